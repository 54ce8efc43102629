import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Account } from "#src/storage/entities/account.ts";

/**
 * Announces balances that run out. Call it in transactions that have locked the account and written every change of its
 * money.
 */
export interface BalanceJudge {
  /**
   * Announces a balance that has fallen, and lets one that has risen be announced again: money came in, or the
   * threshold was changed.
   */
  judge(em: SqlEntityManager, account: Account): Promise<void>;
  /** Announces a balance that has fallen. */
  judgeFall(em: SqlEntityManager, account: Account): Promise<void>;
}
