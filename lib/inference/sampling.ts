import { getOption } from "@bufbuild/protobuf";
import { type Sampling, SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { rules } from "#gen/tollgate/validate/v1/validate_pb.js";

/** A field that controls how tokens are chosen. */
export type SamplingField = Exclude<keyof Sampling, "$typeName" | "$unknown">;

/** The bounds of a number. `above` excludes the bound itself. */
export interface Bounds {
  readonly min: number | undefined;
  readonly above: number | undefined;
  readonly max: number;
}

/**
 * Every sampling field of the contract, with its name in JSON and in the configuration and the contract's bounds. The
 * engines' names for it are in src/fleet/engines/shared/sampling.ts.
 */
export const samplingFields = {
  temperature: { name: "temperature", bounds: readBounds("temperature") },
  topP: { name: "top_p", bounds: readBounds("topP") },
  topK: { name: "top_k" },
  presencePenalty: { name: "presence_penalty", bounds: readBounds("presencePenalty") },
  frequencyPenalty: { name: "frequency_penalty", bounds: readBounds("frequencyPenalty") },
  seed: { name: "seed" },
  minP: { name: "min_p", bounds: readBounds("minP") },
  repetitionPenalty: { name: "repetition_penalty", bounds: readBounds("repetitionPenalty") },
} as const satisfies Record<SamplingField, { readonly name: string; readonly bounds?: Bounds }>;

/** A field of the table. */
interface SamplingEntry {
  readonly field: SamplingField;
  readonly name: string;
  readonly bounds?: Bounds;
}

/** The fields in the table's order: objects, since taking pairs apart costs each request an iterator a field. */
export const samplingEntries: readonly SamplingEntry[] = Object.entries(samplingFields).map(([field, entry]) => ({
  ...entry,
  field: field as SamplingField,
}));

function readBounds(field: SamplingField): Bounds {
  const { minimum, above, maximum } = getOption(SamplingSchema.field[field], rules);
  if (maximum === undefined) {
    throw new Error(`the contract has no bounds for ${field}`);
  }
  return { min: minimum, above, max: maximum };
}
