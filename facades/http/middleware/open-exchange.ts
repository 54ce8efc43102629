import { Exchange } from "../exchange.ts";
import type { BodyLimits } from "../request/body-limits.ts";
import type { Runtime } from "../runtime.ts";
import type { Layer } from "./layer.ts";

/**
 * The outermost layer: names the request and observes it. The observer learns of the end when the response closes, not
 * when the inner layers return: a client may read for long after that.
 */
export function openExchange(runtime: Runtime, bodyLimits: BodyLimits, running: Set<Exchange>): Layer {
  return (context, next) => {
    // The exchange writes the response itself: once, with all of its headers.
    context.respond = false;
    context.exchange = new Exchange(context.req, context.res, runtime, bodyLimits, running);
    return next();
  };
}
