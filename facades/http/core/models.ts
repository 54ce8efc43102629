import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { readAll } from "../../../lib/rpc/pages.ts";
import type { Exchange } from "../exchange.ts";
import type { CoreClients } from "./core-clients.ts";

/** The served models, in the configured order; those that the caller's key may use, if there is one. */
export function readModels({ catalogue }: CoreClients, { callOptions }: Exchange): Promise<Model[]> {
  return readAll(
    (page) => catalogue.listModels(page, callOptions),
    ({ models }) => models,
  );
}
