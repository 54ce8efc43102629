import { ConnectError } from "@connectrpc/connect";
import type { Exchange } from "../exchange.ts";
import { RequestError } from "../request/error.ts";
import type { Choose } from "../routing/choose-surface.ts";
import type { Surface } from "../routing/surface.ts";
import type { Layer } from "./layer.ts";
import type { LogRefusal } from "./refusal-log.ts";

/**
 * Answers any error thrown inside, in the format of the endpoint's surface, or of the surface that `choose` returns.
 * What the core did not hear of is told to `logRefusal`.
 */
export function answerErrors(choose: Choose, logRefusal: LogRefusal): Layer {
  return (context, next) =>
    next().catch((error: unknown) => {
      const { req, found, exchange } = context;
      answerError(found?.route.surface?.(req) ?? choose(req), exchange, error, logRefusal);
    });
}

/** Answers an error. Logs it when it is unexpected, which means a bug. */
function answerError({ name, errorOf }: Surface, exchange: Exchange, error: unknown, logRefusal: LogRefusal): void {
  if (exchange.isGone) {
    return;
  }
  const { status, body, headers } = errorOf(error, exchange.requestId);
  if (error instanceof ConnectError) {
    exchange.noteRateLimit(error.metadata);
  }
  if (error instanceof RequestError) {
    exchange.surface ??= name;
    logRefusal(exchange, status);
  }
  if (status === 500) {
    exchange.logUnexpected(error);
  }
  if (exchange.response.headersSent) {
    exchange.response.destroy();
  } else {
    exchange.send(status, body, headers);
  }
}
