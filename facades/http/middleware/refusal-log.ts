import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Exchange } from "../exchange.ts";

/** Anybody can cause these: beyond so many lines, intervals log a sum. */
const intervalMs = 10_000;
const maxLines = 50;

/** Logs a request that a surface refused before the core heard of it. */
export type LogRefusal = (exchange: Exchange, status: number) => void;

/** Writes one line for each refusal, with nothing of the body: whoever sent it was told what is wrong with it. */
export function createRefusalLog(logger: Pick<Logger, "info">, clock: Clock): LogRefusal {
  let refused = 0;
  const close = () => {
    if (refused > maxLines) {
      logger.info({ refused: refused - maxLines, seconds: intervalMs / 1000 }, "further requests refused");
    }
    refused = 0;
  };
  return ({ requestId, surface, route, network }, status) => {
    if (refused === 0) {
      clock.after(intervalMs, close);
    }
    refused += 1;
    if (refused <= maxLines) {
      const where = { ...(surface && { surface }), ...(route && { route }) };
      logger.info({ requestId, reason: "REFUSED_BY_SURFACE", status, ...where, address: network }, "request refused");
    }
  };
}
