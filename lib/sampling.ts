import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";

/** A field that says how tokens are chosen. */
export type SamplingField = Exclude<keyof Sampling, "$typeName" | "$unknown">;

/** What a number may be; `above` excludes the bound itself. */
export interface Bounds {
  readonly min?: number;
  readonly above?: number;
  readonly max: number;
}

/**
 * Every sampling field of the contract by its name in JSON and in the configuration, and its bounds.
 * What engines call it is in src/engines/shared/sampling.ts.
 */
export const samplingFields = {
  temperature: { name: "temperature", bounds: { min: 0, max: 2 } },
  topP: { name: "top_p", bounds: { above: 0, max: 1 } },
  topK: { name: "top_k" },
  presencePenalty: { name: "presence_penalty", bounds: { min: -2, max: 2 } },
  frequencyPenalty: { name: "frequency_penalty", bounds: { min: -2, max: 2 } },
  seed: { name: "seed" },
  minP: { name: "min_p", bounds: { min: 0, max: 1 } },
  repetitionPenalty: { name: "repetition_penalty", bounds: { above: 0, max: 2 } },
} as const satisfies Record<SamplingField, { readonly name: string; readonly bounds?: Bounds }>;

/** The fields in the table's order. */
export const samplingEntries = Object.entries(samplingFields) as readonly (readonly [
  SamplingField,
  { readonly name: string; readonly bounds?: Bounds },
])[];

export function isWithin(value: number, { min, above, max }: Bounds): boolean {
  return value >= (min ?? Number.NEGATIVE_INFINITY) && value > (above ?? Number.NEGATIVE_INFINITY) && value <= max;
}
