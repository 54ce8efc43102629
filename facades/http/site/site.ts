import { Code, ConnectError } from "@connectrpc/connect";
import type { CoreClients } from "../core/core-clients.ts";
import { readModels } from "../core/models.ts";
import type { Exchange } from "../exchange.ts";
import { RequestError } from "../request/error.ts";
import type { Routes } from "../routing/routes.ts";
import type { SiteFacts } from "./facts.ts";
import { renderHome } from "./home.ts";
import { type Page, type Reach, renderPage } from "./layout.ts";
import { renderModel } from "./model-page.ts";
import { readBaseUrl, wantsPage } from "./page.ts";
import { toStatusJson } from "./status.ts";
import { renderStatus } from "./status-page.ts";
import { createHeaders, createStyle } from "./style.ts";

const greeting = '{"name":"tollgate","openapi":"/openapi.json"}';

/** Mounts the public pages. Clients that ask for no page get the JSON that they know. */
export function mountSite(routes: Routes, core: CoreClients, facts: SiteFacts): void {
  const css = createStyle(facts);
  const headers = createHeaders(css);

  const send = (exchange: Exchange, page: Page, status = 200) => {
    const reach = readReach(exchange, facts);
    exchange.send(status, renderPage(page, facts, css, reach), headers);
  };
  // A page without its past is still a page.
  const readPrices = async ({ callOptions }: Exchange) =>
    (await orNothing(core.catalogue.listPriceDays({}, callOptions)))?.models ?? [];
  const readHistory = ({ callOptions }: Exchange) => orNothing(core.status.getPublicHistory({}, callOptions));

  routes.add({
    verb: "GET",
    path: "/",
    async handle(exchange) {
      if (!wantsPage(exchange.request)) {
        return exchange.send(200, greeting, { vary: "accept" });
      }
      const [models, prices] = await Promise.all([readModels(core, exchange), readPrices(exchange)]);
      send(exchange, renderHome(models, prices, readReach(exchange, facts)));
    },
  });

  routes.add({
    verb: "GET",
    path: "/models/*id",
    async handle(exchange, { id = "" }) {
      if (!wantsPage(exchange.request)) {
        throw new RequestError(404, "Models are at /v1/models; this address is a page for browsers.");
      }
      const models = await readModels(core, exchange);
      const model = models.find((one) => one.id === id);
      if (model === undefined) {
        const body = "<h1>There is no such model</h1><p>The first page lists what is served.</p>";
        return send(exchange, { title: "Not found", description: "There is no such model.", body }, 404);
      }
      const [prices, history] = await Promise.all([readPrices(exchange), readHistory(exchange)]);
      const own = <Of extends { readonly model: string }>(all: readonly Of[]) => all.find((one) => one.model === id);
      const { request, runtime } = exchange;
      const past = own(history?.models ?? []);
      send(
        exchange,
        renderModel(model, own(prices), past, readBaseUrl(request, runtime.isTrustedProxy), runtime.clock.now()),
      );
    },
  });

  routes.add({
    verb: "GET",
    path: "/status",
    async handle(exchange) {
      const [status, history] = await Promise.all([
        core.status.getPublicStatus({}, exchange.callOptions),
        readHistory(exchange),
      ]);
      if (!wantsPage(exchange.request)) {
        return exchange.send(200, toStatusJson(status, history?.availability), { vary: "accept" });
      }
      send(exchange, renderStatus(status, history, await readModels(core, exchange), exchange.runtime.clock.now()));
    },
  });
}

function readReach({ request, runtime }: Exchange, { address }: SiteFacts): Reach {
  const signIn = address === undefined ? undefined : `${address}/sign-in`;
  return { baseUrl: readBaseUrl(request, runtime.isTrustedProxy), pages: "", signIn };
}

/** An answer of a core that may be older, or whose database may be away. */
async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const { code } = ConnectError.from(error);
    if ([Code.Unimplemented, Code.Unavailable, Code.Internal, Code.Unknown].includes(code)) {
      return undefined;
    }
    throw error;
  }
}
