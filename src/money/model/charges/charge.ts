import type { ChargedTokens, PicoUsd } from "../interface.ts";
import type { Rates } from "../rates.ts";
import type { Run } from "./run.ts";
import type { RunFacts } from "./settlement.ts";

/** The part of a charge that one slice pays. */
export interface ChargeLine {
  readonly sliceId: string;
  readonly lotId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The lot's rate, or the rate of the request's admission when that is lower. */
  readonly inputRate: PicoUsd;
  readonly outputRate: PicoUsd;
  readonly cost: PicoUsd;
}

/** The charge of one run of a request. It becomes its receipt. */
export interface Charge extends Run {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The cost of all lines, plus the shortfall. */
  readonly cost: PicoUsd;
  /** The part of the cost that no money was left for. It becomes the account's debt. */
  readonly shortfall: PicoUsd;
  /** The cost that its caller was told. The run is never charged more. Absent: nobody was told. */
  readonly told?: PicoUsd;
  readonly status: "completed" | "cancelled" | "failed" | "recovered";
  /** Milliseconds since the epoch. */
  readonly settledAt: number;
  /** The terms of its admission: none of its tokens costs more. Absent: unknown. */
  readonly maxRates?: Rates;
  /** The tokens that it was admitted with. Absent: unknown, as after a crash. */
  readonly admitted?: ChargedTokens;
  /** Further facts about the run. Absent: none are known. */
  readonly facts?: RunFacts;
  /**
   * The slice of its key's budget that the cost counts in, in the window of its admission. Absent: there was no budget.
   */
  readonly budgetSliceId?: string;
  /** Its attribution labels as they are stored, by `readLabels`. Absent: none. */
  readonly labels?: string | undefined;
  /** In the order of spending. */
  readonly lines: readonly ChargeLine[];
}

/**
 * The charge as a promise carries it: with the cost that its caller is told. It may have become cheaper since an earlier
 * promise, which could not be written. A charge that no money was assigned to yet has no cost to tell.
 */
export function withTold(charge: Charge): Charge {
  const isMade = charge.lines.length > 0 || charge.shortfall > 0;
  return isMade ? { ...charge, told: charge.cost } : charge;
}
