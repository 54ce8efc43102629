import { readRequestTime } from "../../../../lib/ids/request-id.ts";
import { dayMs } from "../../retention/kept-from.ts";
import { firstRun, type Run } from "../run.ts";
import type { Charge } from "./charge.ts";

/** Run ids are made by the clock of a core, receipts by that of the database: they may differ by so much. */
const slackMs = dayMs;

/** Why an aged charge is not made. */
export const agedReason =
  "it is older than the receipts in the books, which cannot say whether it was made and its receipt removed since";

/**
 * Finds charges that may have been made before, by receipts that have left the books since. It reads anew each time how far
 * these go back: a core that slept between two attempts asks again, however long it slept.
 */
export class AgedCharges {
  readonly #readKeptFrom: () => Promise<number>;

  constructor(readKeptFrom: () => Promise<number>) {
    this.#readKeptFrom = readKeptFrom;
  }

  /** Returns those of the charges that are aged. Throws what the store throws. */
  async find<Aged extends TimedRun>(charges: readonly Aged[]): Promise<Aged[]> {
    const keptFrom = await this.#readKeptFrom();
    return charges.filter((charge) => isAged(charge, keptFrom));
  }

  /** Returns whether a charge that has to be made anew is aged. Throws what the store throws. */
  async isAged(
    { requestId, runId }: Run,
    { settledAt, status }: Pick<Charge, "settledAt" | "status">,
  ): Promise<boolean> {
    // A recovered charge was made when a core found the run in its journal, however long after it.
    const timed = { requestId, runId, ...(status !== "recovered" && { settledAt }) };
    return (await this.find([timed])).length > 0;
  }
}

/** A run, and when its charge was made, in milliseconds since the epoch. Absent: that tells nothing of when it ran. */
type TimedRun = Run & { readonly settledAt?: number };

/**
 * Returns whether a receipt of a run may have left the books, so that a charge of it may be one that was made before.
 * keptFrom: the first moment whose receipts are all in the books; 0: none has left. A run that tells no time counts as
 * aged once any have.
 */
function isAged(charge: TimedRun, keptFrom: number): boolean {
  return keptFrom > 0 && !(readTime(charge) >= keptFrom + slackMs);
}

/** The earliest time that a run tells, in milliseconds since the epoch; not a number when it tells none. */
function readTime({ requestId, runId, settledAt }: TimedRun): number {
  const began = runId === firstRun ? readRequestTime(requestId) : readRunTime(runId);
  // The run of a rest has no time of its own.
  return Math.min(began ?? settledAt ?? Number.NaN, settledAt ?? Number.POSITIVE_INFINITY);
}

function readRunTime(runId: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-[78]/.exec(runId) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}
