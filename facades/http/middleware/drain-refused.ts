import { hasBody } from "#lib/door/head.ts";
import type { Layer } from "./layer.ts";

/** Drains the body of a request that is refused before an endpoint runs. Endpoints handle their bodies themselves. */
export const drainRefused: Layer = (context, next) =>
  next().catch(async (error: unknown) => {
    if (context.found === undefined && hasBody(context.req)) {
      await context.exchange.drain();
    }
    throw error;
  });
