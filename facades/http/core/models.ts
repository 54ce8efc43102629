import type { Model, OwnRates } from "#gen/tollgate/catalogue/v1/model_pb.js";
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

/**
 * Headers of what tells models: a key may be allowed some of them alone, its account may have own prices, and each surface has its
 * own format. No cache may give them to others.
 */
export const ofCaller = { "cache-control": "private", vary: "authorization, x-api-key, anthropic-version" };

/** What a model costs the caller: the own rates of the account whose key asks, or the general ones. */
export function ratesOf(model: Model): Pick<OwnRates, "inputPicoUsdPerToken" | "outputPicoUsdPerToken"> {
  return model.ownRates ?? model;
}
