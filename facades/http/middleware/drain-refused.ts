import type { Clock } from "#lib/time/clock.ts";
import { drain } from "../request/body.ts";
import { hasBody } from "../request/has-body.ts";
import type { Layer } from "./layer.ts";

/** Drains the body of a request that is refused before an endpoint runs. Endpoints handle their bodies themselves. */
export function drainRefused(clock: Clock): Layer {
  return (context, next) =>
    next().catch(async (error: unknown) => {
      if (context.found === undefined && hasBody(context.req)) {
        await drain(context.req, clock).catch(() => {});
      }
      throw error;
    });
}
