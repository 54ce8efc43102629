import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Exchange } from "../exchange.ts";
import type { CoreClients } from "./core-clients.ts";

/** Lists the served models in the configured order. With a key, only the models that the key may use. */
export function readModels({ catalogue }: CoreClients, { callOptions }: Exchange): Promise<Model[]> {
  return readAll(
    (page) => catalogue.listModels(page, callOptions),
    ({ models }) => models,
  );
}
