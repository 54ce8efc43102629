import type { DefaultState, Middleware } from "koa";
import type { Exchange } from "../exchange.ts";
import type { FoundRoute } from "../routing/routes.ts";

/** What the layers share of one request, on Koa's context. */
export interface Shared {
  exchange: Exchange;
  /** What answers the request. Undefined: nothing was found yet. */
  found: FoundRoute | undefined;
}

/** One layer around the endpoints. */
export type Layer = Middleware<DefaultState, Shared>;
