import type { Announcements } from "../ledger/announcements.ts";
import type { BudgetStore } from "../ledger/budget/budget-store.ts";
import type { CoreStore } from "../ledger/core/core-store.ts";
import type { ChargeStore } from "../ledger/settlement/charge-store.ts";
import type { WalletStore } from "../ledger/wallet/wallet-store.ts";
import type { ReceiptStore } from "../retention/receipt-store.ts";
import type { TallyStore } from "../thresholds/tally-store.ts";

/**
 * The statements that must be fast and atomic. Locks are always taken in this order, and by id
 * within a table, so that cores cannot deadlock: slice, account, lot.
 */
export interface LedgerStore
  extends WalletStore,
    BudgetStore,
    CoreStore,
    ChargeStore,
    TallyStore,
    ReceiptStore,
    Announcements {
  /** True while the file of the database is not where it was opened: what is written there goes with this process. */
  readonly isLost: boolean;
  /** Frees the resources that the store itself has opened. */
  end(): Promise<void>;
}
