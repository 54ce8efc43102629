import type { PicoUsd } from "../interface.ts";
import type { Ledger, LedgerState } from "./interface.ts";
import type { Charge } from "./settlement/charge.ts";
import type { StoredSlice } from "./wallet/wallet-store.ts";

/** The ledger, with what the other parts of metering need of it. */
export interface CoreLedger extends Ledger {
  /** The money that the account's running requests hold on this core. */
  held(accountId: string): PicoUsd;
  /** The state of this core's ledger. Its time grows with the number of running requests. */
  state(): LedgerState;
  /** The open slices that the store says are this core's and that it does not know; none while all is well. */
  unknownSlices(): Promise<StoredSlice[]>;
  /**
   * Resolves when the store has what was settled here before, or after a second: call it before reading the store. Given an
   * account, the store that has it.
   */
  caughtUp(accountId?: string): Promise<void>;
  /** Looks at the account's money again, after some came in or may have. Never fails: what is not seen now is later. */
  refresh(accountId: string): Promise<void>;
  /** Has this core and all others give back what they lease of the account's money and budgets and no request holds. */
  callIn(accountId: string): Promise<void>;
  /** Runs a function while this core leases no more of the account's money than running requests hold. */
  withFreeReturned<T>(accountId: string, run: () => Promise<T>): Promise<T>;
  /**
   * Makes a charge for what nothing is held for, and settles it: what the account has left pays, the rest is owed. Does
   * nothing when the request was charged before. Throws ACCOUNT_NOT_FOUND, MODEL_NOT_FOUND, INVALID_ARGUMENT,
   * LEDGER_UNAVAILABLE.
   */
  settleLate(charge: Charge): Promise<void>;
}
