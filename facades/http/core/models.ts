import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { readAll } from "../../../lib/rpc/pages.ts";
import type { Core } from "./core.ts";

/** All served models, in the configured order. */
export function readModels({ catalogue }: Core, signal: AbortSignal): Promise<Model[]> {
  return readAll(
    (page) => catalogue.listModels(page, { signal }),
    ({ models }) => models,
  );
}
