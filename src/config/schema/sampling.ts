import * as z from "zod";
import { type Bounds, samplingFields } from "../../../lib/sampling.ts";

function within({ min, above, max }: Bounds): z.ZodNumber {
  const number = z.number().max(max);
  return above === undefined ? number.min(min ?? Number.NEGATIVE_INFINITY) : number.gt(above);
}

/** Defaults of a model for what a request leaves out. */
export const sampling = z.strictObject({
  temperature: within(samplingFields.temperature.bounds).default(0.7).describe("0 always takes the likeliest token."),
  top_p: within(samplingFields.topP.bounds)
    .default(1)
    .describe("Choose among the likeliest tokens of this share together."),
  top_k: z.int().min(0).optional().describe("Choose among so many likeliest tokens."),
  presence_penalty: within(samplingFields.presencePenalty.bounds).optional().describe("Against tokens that occurred."),
  frequency_penalty: within(samplingFields.frequencyPenalty.bounds)
    .optional()
    .describe("Against tokens, as often as they occurred."),
  min_p: within(samplingFields.minP.bounds)
    .optional()
    .describe("The least likelihood, as a part of the likeliest token's."),
  repetition_penalty: within(samplingFields.repetitionPenalty.bounds)
    .optional()
    .describe("A factor against tokens that occurred; 1: none."),
});
