import { dayMs } from "#lib/time/days.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";

/** The most that clocks may differ: run ids are made by a core's clock, receipts by the database's. */
const slackMs = dayMs;

/** Why an aged charge is not made. */
export const agedReason =
  "it is older than the receipts in the books, which cannot say whether it was made and its receipt removed since";

/** A charge, and the run that it is known by. The rest of a run has its own id, which carries no time. */
export interface KnownCharge {
  readonly charge: Pick<Charge, "settledAt" | "status">;
  readonly run: Run;
}

/**
 * Finds charges that may have been made before, by receipts that have left the books since. Reads each time anew since
 * when receipts are kept: a core that slept between two attempts asks again, however long it slept.
 */
export class AgedCharges {
  readonly #readKeptFrom: () => Promise<number>;

  constructor(readKeptFrom: () => Promise<number>) {
    this.#readKeptFrom = readKeptFrom;
  }

  /** Returns the aged ones among the charges. Throws what the store throws. */
  async find<Known extends KnownCharge>(charges: readonly Known[]): Promise<Known[]> {
    const keptFrom = await this.#readKeptFrom();
    return charges.filter((charge) => isAged(charge, keptFrom));
  }

  /** Returns whether a charge is aged. Throws what the store throws. */
  async isAged(charge: KnownCharge): Promise<boolean> {
    return (await this.find([charge])).length > 0;
  }
}

/**
 * Returns whether a receipt of a run may have left the books, so that its charge may have been made before. `keptFrom`:
 * the first moment whose receipts are all in the books; 0: none has left. A run without a time counts as aged once any
 * have left.
 */
function isAged(charge: KnownCharge, keptFrom: number): boolean {
  return keptFrom > 0 && !(readTime(charge) >= keptFrom + slackMs);
}

/** The earliest time that a charge tells, in milliseconds since the epoch. NaN when it tells none. */
function readTime({ run, charge: { settledAt, status } }: KnownCharge): number {
  const began = readRunTime(run);
  // A recovered charge was made when a core found the run in its journal, possibly long after the run.
  const ended = status === "recovered" ? undefined : settledAt;
  return Math.min(began ?? ended ?? Number.NaN, ended ?? Number.POSITIVE_INFINITY);
}

/** Undefined: the id carries no time, such as the id of a rest, which is a hash. */
function readRunTime({ runId }: Run): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(runId) ?? [];
  return high === undefined ? undefined : Number.parseInt(`${high}${low}`, 16);
}
