import type { Announcements } from "../announcements.ts";
import type { BudgetStore } from "./budget.ts";
import type { ChargeStore } from "./charge.ts";
import type { CoreStore } from "./core.ts";
import type { ReceiptStore } from "./receipt.ts";
import type { RequestStore } from "./request.ts";
import type { TallyStore } from "./tally.ts";
import type { WalletStore } from "./wallet.ts";

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
    RequestStore,
    Announcements {
  /**
   * True while the database's file is not where it was opened: everything written there is lost when this process ends.
   */
  readonly isLost: boolean;
  /** Frees the resources that the store itself has opened. */
  end(): Promise<void>;
}
