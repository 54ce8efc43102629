import * as z from "zod";
import { type Bounds, samplingFields } from "#lib/inference/sampling.ts";

function within({ min, above, max }: Bounds): z.ZodNumber {
  const number = z.number().max(max);
  return above === undefined ? number.min(min ?? Number.NEGATIVE_INFINITY) : number.gt(above);
}

/** A model's defaults for fields that a request leaves out. */
export const sampling = z.strictObject({
  temperature: within(samplingFields.temperature.bounds).default(0.7).describe("0 always takes the likeliest token."),
  top_p: within(samplingFields.topP.bounds)
    .default(1)
    .describe("Choose among the likeliest tokens that have this probability together."),
  top_k: z.int().min(0).optional().describe("Choose among this many of the likeliest tokens."),
  presence_penalty: within(samplingFields.presencePenalty.bounds)
    .optional()
    .describe("Makes tokens less likely that have occurred."),
  frequency_penalty: within(samplingFields.frequencyPenalty.bounds)
    .optional()
    .describe("Makes tokens less likely, the more often they have occurred."),
  min_p: within(samplingFields.minP.bounds)
    .optional()
    .describe("The least probability of a token, as a part of the likeliest token's."),
  repetition_penalty: within(samplingFields.repetitionPenalty.bounds)
    .optional()
    .describe("A factor that makes tokens less likely that have occurred; 1: no effect."),
});
