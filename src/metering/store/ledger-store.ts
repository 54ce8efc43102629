import type { Announcements } from "../ledger/announcements.ts";
import type { BudgetStore } from "../ledger/budget/budget-store.ts";
import type { CoreStore } from "../ledger/core/core-store.ts";
import type { ChargeStore } from "../ledger/settlement/charge-store.ts";
import type { WalletStore } from "../ledger/wallet/wallet-store.ts";
import type { ReceiptStore } from "../retention/receipt-store.ts";
import type { TallyStore } from "../thresholds/tally-store.ts";

/**
 * The statements that must be fast and atomic. Locks are always taken in the order slice, account, lot, and by id
 * within a table, so that cores cannot deadlock.
 */
export interface LedgerStore
  extends WalletStore,
    BudgetStore,
    CoreStore,
    ChargeStore,
    TallyStore,
    ReceiptStore,
    Announcements {
  /**
   * True while the database's file is not where it was opened: everything written there is lost when this process ends.
   */
  readonly isLost: boolean;
  /** Frees the resources that the store itself has opened. */
  end(): Promise<void>;
}
