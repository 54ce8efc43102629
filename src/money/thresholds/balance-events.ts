import type { SqlEntityManager } from "@mikro-orm/sql";
import { formatUsd } from "#lib/money/money.ts";
import type { Clock } from "#lib/time/clock.ts";
import { type Account, type BalanceLevel, balanceLevels } from "#src/storage/entities/account.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { BalanceJudge } from "../model/balances.ts";
import type { PriceList } from "../prices/price-list.ts";
import { leastCharge } from "./least-charge.ts";
import { readBalances, type StoredBalance } from "./read-balances.ts";

interface Dependencies {
  readonly prices: Pick<PriceList, "list">;
  readonly clock: Pick<Clock, "now">;
  readonly announce: Announce;
}

/**
 * Announces balances that fall below their threshold, and balances that cannot pay for a request any more, once for
 * each crossing. Only charges let a balance fall without a check at once. Every other change has the balance judged in
 * its own transaction, and incoming money also before the change, so that no crossing between two looks is missed.
 */
export class BalanceEvents implements BalanceJudge {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Returns the accounts with a crossing to announce. */
  async findFallen(em: SqlEntityManager, accountIds: readonly string[]): Promise<string[]> {
    const balances = await this.#read(em, accountIds);
    return balances.filter((one) => isBelow(this.#levelOf(one), one.told)).map(({ accountId }) => accountId);
  }

  judgeFall(em: SqlEntityManager, account: Account): Promise<void> {
    return this.#judge(em, account, false);
  }

  judge(em: SqlEntityManager, account: Account): Promise<void> {
    return this.#judge(em, account, true);
  }

  async #judge(em: SqlEntityManager, account: Account, mayRise: boolean): Promise<void> {
    const [found] = await this.#read(em, [account.id]);
    if (found === undefined) {
      return;
    }
    const level = this.#levelOf(found);
    const told = account.balanceTold;
    if (isBelow(level, told)) {
      await this.#tell(em, found, level);
    }
    // Prices change the least cost of a request. Unless money came in, that is no reason to announce anew.
    if (mayRise || isBelow(level, told)) {
      account.balanceTold = level;
    }
  }

  async #tell(
    em: SqlEntityManager,
    { accountId, balance, threshold, told }: StoredBalance,
    level: BalanceLevel,
  ): Promise<void> {
    const { announce } = this.#parts;
    const data = { balance_usd: formatUsd(balance) };
    if (told === "ample" && balance < threshold) {
      const low = { ...data, threshold_usd: formatUsd(threshold) };
      await announce(em, { type: "balance.low", accountId, data: low });
    }
    if (level === "exhausted") {
      await announce(em, { type: "balance.exhausted", accountId, data });
    }
  }

  #levelOf({ balance, credit, threshold, isWhole }: StoredBalance): BalanceLevel {
    if (!isWhole) {
      return "ample"; // it has dozens of lots left
    }
    const spendable = balance + credit;
    if (spendable <= 0n || spendable < BigInt(leastCharge(this.#parts.prices))) {
      return "exhausted";
    }
    return balance < threshold ? "low" : "ample";
  }

  #read(em: SqlEntityManager, accountIds: readonly string[]): Promise<StoredBalance[]> {
    return readBalances(em, accountIds, new Date(this.#parts.clock.now()));
  }
}

function isBelow(level: BalanceLevel, other: BalanceLevel): boolean {
  return balanceLevels.indexOf(level) > balanceLevels.indexOf(other);
}
