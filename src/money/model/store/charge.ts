import type { Charge } from "../charges/charge.ts";
import type { Run } from "../charges/run.ts";

/** The part of a stored charge that says which tokens were charged. */
export type StoredCharge = Pick<Charge, "inputTokens" | "outputTokens" | "status">;

/**
 * The outcome of a charge. repeated: the run was charged before, so nothing was done.
 * fenced: a slice of it is no longer this core's, so nothing was done.
 */
export type SettleOutcome = "stored" | "repeated" | "fenced";

/** Stores charges. */
export interface ChargeStore {
  /** Stores charges durably, each run at most once. Outcomes are in the order of the charges. */
  settle(charges: readonly Charge[]): Promise<SettleOutcome[]>;
  /** True when an error of `settle` means that a charge can never be stored, rather than not now. */
  isViolation(error: unknown): boolean;
  /** The stored charges of the runs, by runKey; runs that were not charged are absent. */
  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>>;
  /** True when any run of an account's request was charged. */
  isCharged(accountId: string, requestId: string): Promise<boolean>;
}
