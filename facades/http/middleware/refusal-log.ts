import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { reasonOfStatus } from "#lib/errors/surface-refusals.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { CoreClients } from "../core/core-clients.ts";
import type { Exchange } from "../exchange.ts";

/** Anybody can cause these: beyond so many lines, intervals log a sum. */
const intervalMs = 10_000;
const maxLines = 50;

/** Logs a request that a surface refused, and tells the core of it. */
export type LogRefusal = (exchange: Exchange, status: number) => void;

/**
 * Writes one line for each refusal, with nothing of the body: whoever sent it was told what is wrong with it. Tells the
 * core of those that it has not heard of, so that it can record whose they were.
 */
export function createRefusalLog(
  core: Pick<CoreClients, "accounts">,
  logger: Pick<Logger, "info">,
  clock: Clock,
): LogRefusal {
  let refused = 0;
  const close = () => {
    if (refused > maxLines) {
      logger.info({ refused: refused - maxLines, seconds: intervalMs / 1000 }, "further requests refused");
    }
    refused = 0;
  };
  return (exchange, status) => {
    const { requestId, surface, route, network } = exchange;
    if (refused === 0) {
      clock.after(intervalMs, close);
    }
    refused += 1;
    if (refused <= maxLines) {
      const where = { ...(surface && { surface }), ...(route && { route }) };
      logger.info(
        { requestId, reason: Reason[reasonOfStatus(status)], status, ...where, address: network },
        "request refused",
      );
      tell(core, exchange, status);
    }
  };
}

/** Nobody waits for it, and a core that is away need not hear of it. What has no endpoint is no request of an account. */
function tell({ accounts }: Pick<CoreClients, "accounts">, exchange: Exchange, refusedStatus: number): void {
  const { headers } = exchange.callOptions;
  if (exchange.route !== undefined && !exchange.isRefusalRecorded && headers.authorization !== undefined) {
    accounts.identifyCaller({ refusedStatus }, { headers }).catch(() => {});
  }
}
