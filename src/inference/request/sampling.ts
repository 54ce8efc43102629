import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { type Bounds, isWithin, samplingEntries } from "../../../lib/sampling.ts";
import type { ModelConfig } from "../../config/schema.ts";

/** A request's sampling over its model's defaults. Throws INVALID_ARGUMENT for a value out of bounds. */
export function settleSampling(asked: Sampling | undefined, defaults: ModelConfig["sampling"]): Sampling {
  const configured: Readonly<Record<string, number | undefined>> = defaults;
  const settled: Record<string, unknown> = { $typeName: "tollgate.inference.v1.Sampling" };
  for (const [field, { name, bounds }] of samplingEntries) {
    const wish = asked?.[field];
    if (typeof wish === "number" && bounds !== undefined && !isWithin(wish, bounds)) {
      throw outOfBounds(name, bounds);
    }
    const value = wish ?? configured[name];
    if (value !== undefined) {
      settled[field] = value;
    }
  }
  return settled as unknown as Sampling;
}

function outOfBounds(name: string, { min, above, max }: Bounds) {
  const range = above === undefined ? `from ${min} to ${max}` : `above ${above} and at most ${max}`;
  return failure(Reason.INVALID_ARGUMENT, `${name} must be ${range}.`, { parameter: `sampling.${name}` });
}
