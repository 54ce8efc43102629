import type { DefaultState, Middleware } from "koa";
import type { Exchange } from "../exchange.ts";
import type { FoundRoute } from "../routing/routes.ts";

/** The state of one request that the layers share, on Koa's context. */
export interface Shared {
  exchange: Exchange;
  /** The handler of the request. Undefined: not found yet. */
  found: FoundRoute | undefined;
}

/** One layer of middleware around the endpoints. */
export type Layer = Middleware<DefaultState, Shared>;
