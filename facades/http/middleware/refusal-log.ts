import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { refusalLines } from "#lib/errors/refusal-lines.ts";
import { reasonOfStatus } from "#lib/errors/surface-refusals.ts";
import type { Logger } from "#lib/logger.ts";
import { refusedStatusHeader } from "#lib/rpc/call-headers.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { CoreClients } from "../core/core-clients.ts";
import type { Exchange } from "../exchange.ts";

/** Logs requests that a surface refused, and tells the core of them. */
export interface RefusalLog {
  /** `reason`: why, where the status does not say it. */
  refused(exchange: Exchange, status: number, reason?: Reason): void;
  /** No core could be asked, so that none knows of the request. */
  unanswered(exchange: Exchange, status: number): void;
  /** Bytes that are no request. */
  malformed(requestId: string, status: number, network: string): void;
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
  return {
    refused(exchange, status, reason = reasonOfStatus(status)) {
      const isWritten = lines(exchange.requestId, reason, { status, ...whereOf(exchange) });
      if (isWritten && reason === reasonOfStatus(status)) {
        tell(core, exchange, status);
      }
    },
    unanswered(exchange, status) {
      lines(exchange.requestId, Reason.UNSPECIFIED, { status, ...whereOf(exchange), cause: "no core answers" });
    },
    malformed: (requestId, status, address) => void lines(requestId, reasonOfStatus(status), { status, address }),
  };
}

function whereOf({ surface, route, network }: Exchange): object {
  return { ...(surface && { surface }), ...(route && { route }), address: network };
}

/** Nobody waits for it, and a core that is away need not hear of it. */
function tell({ accounts }: Pick<CoreClients, "accounts">, exchange: Exchange, refusedStatus: number): void {
  const { headers } = exchange.callOptions;
  if (!exchange.isRefusalRecorded && headers.authorization !== undefined) {
    const told = { ...headers, [refusedStatusHeader]: String(refusedStatus) };
    accounts.identifyCaller({ refusedStatus }, { headers: told }).catch(() => {});
  }
}
