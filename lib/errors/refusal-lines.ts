import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Logger } from "../logger.ts";
import type { Clock } from "../time/clock.ts";

/** Anybody can cause these: beyond so many lines of a reason, intervals log a sum. */
const intervalMs = 10_000;
const mostLines = 50;

/**
 * Writes the line of a refusal, with the id that its answer has. `where`: nothing of a path or a body. Returns whether it has
 * one: beyond so many of a reason an interval has their sum alone.
 */
export type RefusalLines = (requestId: string, reason: Reason, where: object) => boolean;

/** Lines of refusals that no interceptor of the core hears of. `common`: what every line has. */
export function refusalLines(
  logger: Pick<Logger, "info">,
  clock: Pick<Clock, "after">,
  common: object = {},
): RefusalLines {
  const counts = new Map<Reason, number>();
  const close = () => {
    for (const [reason, count] of counts) {
      if (count > mostLines) {
        const refused = count - mostLines;
        const sum = { refused, reason: Reason[reason], seconds: intervalMs / 1000, ...common };
        logger.info(sum, "further requests refused");
      }
    }
    counts.clear();
  };
  return (requestId, reason, where) => {
    if (counts.size === 0) {
      clock.after(intervalMs, close);
    }
    const count = (counts.get(reason) ?? 0) + 1;
    counts.set(reason, count);
    if (count <= mostLines) {
      logger.info({ requestId, reason: Reason[reason], ...common, ...where }, "request refused");
    }
    return count <= mostLines;
  };
}
