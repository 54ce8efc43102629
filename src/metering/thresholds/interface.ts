import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Account } from "../../storage/entities/account.ts";

/** Tells of balances that run out, in transactions that have the account locked and nothing of its money unwritten. */
export interface BalanceJudge {
  /** Tells of what has fallen, and lets what has risen be told again: money came in, or the threshold was changed. */
  judge(em: SqlEntityManager, account: Account): Promise<void>;
  /** Tells of what has fallen. */
  judgeFall(em: SqlEntityManager, account: Account): Promise<void>;
}
