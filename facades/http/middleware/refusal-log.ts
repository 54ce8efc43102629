import { refusalLines } from "#lib/errors/refusal-lines.ts";
import { reasonOfStatus } from "#lib/errors/surface-refusals.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { CoreClients } from "../core/core-clients.ts";
import type { Exchange } from "../exchange.ts";

/** Logs requests that a surface refused, and tells the core of them. */
export interface RefusalLog {
  /** `isRequest`: it may be one of an account. What has no endpoint is none. */
  refused(exchange: Exchange, status: number, isRequest: boolean): void;
  /** Bytes that are no request. */
  malformed(requestId: string, status: number): void;
}

/**
 * Writes one line for each refusal, with nothing of the body: whoever sent it was told what is wrong with it. Tells the
 * core of those that it has not heard of, so that it can record whose they were.
 */
export function createRefusalLog(
  core: Pick<CoreClients, "accounts">,
  logger: Pick<Logger, "info">,
  clock: Clock,
): RefusalLog {
  const lines = refusalLines(logger, clock);
  const write = (requestId: string, status: number, where: object) =>
    lines(requestId, reasonOfStatus(status), { status, ...where });
  return {
    refused(exchange, status, isRequest) {
      const { requestId, surface, route, network } = exchange;
      const where = { ...(surface && { surface }), ...(route && { route }), address: network };
      if (write(requestId, status, where) && isRequest) {
        tell(core, exchange, status);
      }
    },
    malformed: (requestId, status) => void write(requestId, status, {}),
  };
}

/** Nobody waits for it, and a core that is away need not hear of it. */
function tell({ accounts }: Pick<CoreClients, "accounts">, exchange: Exchange, refusedStatus: number): void {
  const { headers } = exchange.callOptions;
  if (!exchange.isRefusalRecorded && headers.authorization !== undefined) {
    accounts.identifyCaller({ refusedStatus }, { headers }).catch(() => {});
  }
}
