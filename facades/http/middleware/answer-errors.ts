import { ConnectError } from "@connectrpc/connect";
import { readDetail } from "#lib/errors/detail.ts";
import { isUnheard } from "#lib/errors/unheard.ts";
import type { Exchange } from "../exchange.ts";
import { isRefusedHere } from "../refused-here.ts";
import { RequestError } from "../request/error.ts";
import type { Choose } from "../routing/choose-surface.ts";
import type { Surface } from "../routing/surface.ts";
import type { Layer } from "./layer.ts";
import type { RefusalLog } from "./refusal-log.ts";

/**
 * Answers any error thrown inside, in the format of the endpoint's surface, or of the surface that `choose` returns.
 * What the core did not hear of is told to `log`.
 */
export function answerErrors(choose: Choose, log: RefusalLog): Layer {
  return (context, next) =>
    next().catch((error: unknown) => {
      const { req, found, exchange } = context;
      answerError(found?.route.surface?.(req) ?? choose(req), exchange, error, log);
    });
}

/** Answers an error. Logs it when it is unexpected, which means a bug. */
function answerError({ name, errorOf }: Surface, exchange: Exchange, error: unknown, log: RefusalLog): void {
  if (exchange.isGone) {
    return;
  }
  const { status, body, headers } = errorOf(error, exchange.requestId);
  if (error instanceof ConnectError) {
    exchange.noteRateLimit(error.metadata);
  }
  if (error instanceof RequestError || isRefusedHere(error) || isUnheard(error)) {
    exchange.surface ??= name;
    log.refused(exchange, status, readDetail(error)?.reason);
  } else if (status === 500) {
    exchange.logUnexpected(error);
  } else if (readDetail(error) === undefined) {
    exchange.surface ??= name;
    log.unanswered(exchange, status); // the core writes the line of what it refuses
  }
  if (exchange.response.headersSent) {
    exchange.response.destroy();
  } else {
    exchange.send(status, body, headers);
  }
}
