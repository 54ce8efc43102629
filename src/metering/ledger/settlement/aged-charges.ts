import { readRequestTime } from "../../../../lib/ids/request-id.ts";
import { dayMs } from "../../retention/kept-from.ts";
import { firstRun, type Run } from "../run.ts";

/** Run ids are made by the clock of a core, receipts by that of the database: they may differ by so much. */
const slackMs = dayMs;

/** Why an aged charge is not made. */
export const agedReason =
  "it is older than the receipts in the books, which cannot say whether it was made and its receipt removed since";

/**
 * Returns whether a receipt of a run may have left the books, so that a charge of it may be one that was made before.
 * keptFrom: the first moment whose receipts are all in the books; 0: none has left. A run that tells no time counts as
 * aged once any have. `settledAt` is that of its charge; absent: it ran when its core died.
 */
export function isAged(charge: Run & { readonly settledAt?: number }, keptFrom: number): boolean {
  return keptFrom > 0 && !(readTime(charge) >= keptFrom + slackMs);
}

/** The earliest time that a run tells, in milliseconds since the epoch; not a number when it tells none. */
function readTime({ requestId, runId, settledAt }: Run & { readonly settledAt?: number }): number {
  const began = runId === firstRun ? readRequestTime(requestId) : readRunTime(runId);
  // The run of a rest has no time of its own.
  return Math.min(began ?? settledAt ?? Number.NaN, settledAt ?? Number.POSITIVE_INFINITY);
}

function readRunTime(runId: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-[78]/.exec(runId) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}
