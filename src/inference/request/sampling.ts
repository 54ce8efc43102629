import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { ModelConfig } from "../../config/schema.ts";

/** Lowest and highest value of each bounded field. top_p is bounded below by more than zero. */
const bounds = {
  temperature: [0, 2],
  topP: [Number.MIN_VALUE, 1],
  presencePenalty: [-2, 2],
  frequencyPenalty: [-2, 2],
} as const;

/** A request's sampling over its model's defaults. Throws INVALID_ARGUMENT for a value out of bounds. */
export function samplingOf(asked: Sampling | undefined, defaults: ModelConfig["sampling"]): Sampling {
  if (asked !== undefined) refuseOutOfBounds(asked);
  const sampling: Sampling = {
    $typeName: "tollgate.inference.v1.Sampling",
    temperature: asked?.temperature ?? defaults.temperature,
    topP: asked?.topP ?? defaults.top_p,
  };
  const topK = asked?.topK ?? defaults.top_k;
  const presencePenalty = asked?.presencePenalty ?? defaults.presence_penalty;
  const frequencyPenalty = asked?.frequencyPenalty ?? defaults.frequency_penalty;
  if (topK !== undefined) sampling.topK = topK;
  if (presencePenalty !== undefined) sampling.presencePenalty = presencePenalty;
  if (frequencyPenalty !== undefined) sampling.frequencyPenalty = frequencyPenalty;
  if (asked?.seed !== undefined) sampling.seed = asked.seed;
  return sampling;
}

const fields = Object.entries(bounds) as [keyof typeof bounds, readonly [number, number]][];

function refuseOutOfBounds(asked: Sampling): void {
  for (const [field, [low, high]] of fields) {
    const value = asked[field];
    if (value === undefined || (value >= low && value <= high)) continue;
    const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const range = low === Number.MIN_VALUE ? `above 0 and at most ${high}` : `from ${low} to ${high}`;
    throw failure(Reason.INVALID_ARGUMENT, `${name} must be ${range}.`, { parameter: `sampling.${name}` });
  }
}
