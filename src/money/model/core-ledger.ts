import type { Charge } from "./charges/charge.ts";
import type { PicoUsd } from "./interface.ts";
import type { Ledger, LedgerState } from "./ledger.ts";
import type { StoredSlice } from "./store/wallet.ts";

/** The part of one window of a key's budget that a core may spend without asking. */
export interface BudgetPart {
  readonly budgetId: string;
  /** Its slice. The store has none while nothing is leased. */
  readonly sliceId: string;
  /** The limit under which it was leased. */
  readonly limit: PicoUsd;
  /** Leased and not spent, held or not. */
  readonly available: PicoUsd;
  /** Whether nothing is held and no charge is on its way to the store. */
  readonly idle: boolean;
}

/** The ledger, with the methods that other parts of metering need. */
export interface CoreLedger extends Ledger {
  /** The money that the account's running requests hold on this core. */
  held(accountId: string): PicoUsd;
  /** The account's unspent money in this core's slices, held or not. */
  unspent(accountId: string): PicoUsd;
  /** What this core has of keys' budgets: a part of each window in memory. */
  budgets(): readonly BudgetPart[];
  /** The state of this core's ledger. Takes time proportional to the number of running requests. */
  state(): LedgerState;
  /** The open slices that belong to this core in the store but that the core does not know. Empty while all is well. */
  unknownSlices(): Promise<StoredSlice[]>;
  /** Resolves when the store has everything settled here before, or after a second; call it before reading the store. */
  caughtUp(): Promise<void>;
  /**
   * Looks at the account's money again, after some came in or may have. Never fails: a later look sees what this one
   * misses.
   */
  refresh(accountId: string): Promise<void>;
  /** Has this core and all others give back their leases of the account's money and budgets that no request holds. */
  callIn(accountId: string): Promise<void>;
  /** Runs a function while this core leases no more of the account's money than running requests hold. */
  withFreeReturned<T>(accountId: string, run: () => Promise<T>): Promise<T>;
  /**
   * Makes a charge for tokens without a hold, and settles it: the account's remaining money pays, and the rest becomes
   * debt. Does nothing when the request was charged before. Throws ACCOUNT_NOT_FOUND, MODEL_NOT_FOUND,
   * INVALID_ARGUMENT, LEDGER_UNAVAILABLE.
   */
  settleLate(charge: Charge): Promise<void>;
}
