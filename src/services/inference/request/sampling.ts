import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { samplingEntries } from "#lib/inference/sampling.ts";
import type { ModelConfig } from "#src/config/schema.ts";

/** A request's sampling, completed with its model's defaults. */
export function settleSampling(asked: Sampling | undefined, defaults: ModelConfig["sampling"]): Sampling {
  const configured: Readonly<Record<string, number | undefined>> = defaults;
  const settled: Record<string, unknown> = { $typeName: "tollgate.inference.v1.Sampling" };
  for (const { field, name } of samplingEntries) {
    const value = asked?.[field] ?? configured[name];
    if (value !== undefined) {
      settled[field] = value;
    }
  }
  return settled as unknown as Sampling;
}
