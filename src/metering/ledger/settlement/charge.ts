import type { ChargedTokens, PicoUsd } from "../../interface.ts";
import type { Rates } from "../../prices/interface.ts";
import type { Run } from "../run.ts";
import type { RunFacts } from "./interface.ts";

/** The part of a charge that one slice pays. */
export interface ChargeLine {
  readonly sliceId: string;
  readonly lotId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The lot's rates, or those of the request's admission where these are lower. */
  readonly inputRate: PicoUsd;
  readonly outputRate: PicoUsd;
  readonly cost: PicoUsd;
}

/** A run of a request, to be charged; becomes its receipt. */
export interface Charge extends Run {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The lines and the shortfall together. */
  readonly cost: PicoUsd;
  /** The part of the cost that no money was left for; becomes the account's debt. */
  readonly shortfall: PicoUsd;
  readonly status: "completed" | "cancelled" | "failed" | "recovered";
  /** Milliseconds since the epoch. */
  readonly settledAt: number;
  /** The terms of its admission: no token of it costs more. Absent: an earlier version of the program admitted it. */
  readonly maxRates?: Rates;
  /** The tokens that it was admitted with. Absent: not known, as after a crash. */
  readonly admitted?: ChargedTokens;
  /** Further facts about the run. Absent: none are known. */
  readonly facts?: RunFacts;
  /** The slice of its key's budget that the cost counts in, of the window of its admission. Absent: there was no budget. */
  readonly budgetSliceId?: string;
  /** In the order of spending. */
  readonly lines: readonly ChargeLine[];
}
