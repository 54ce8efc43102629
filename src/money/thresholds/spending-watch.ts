import { LockMode } from "@mikro-orm/sql";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { Account } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/orm.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { WorkLease } from "#src/storage/work-lease.ts";
import type { TallyStore } from "../model/store/tally.ts";
import type { BalanceEvents } from "./balance-events.ts";
import type { BudgetEvents } from "./budget-events.ts";
import type { BudgetRecounts } from "./budget-recounts.ts";
import type { ChargedKey, SpentWindow } from "./spent-windows.ts";

const lookMs = 1000;
const hourMs = 3_600_000;
/** Tallies that cannot be announced for this long are skipped: they would keep later tallies from being looked at. */
const patienceMs = 24 * hourMs;
/** The most tallies in one look. */
const atOnce = 500;

/** Dependencies. */
export interface SpendingWatchParts {
  readonly storage: Storage;
  readonly store: Pick<TallyStore, "unseenTallies" | "markSeen">;
  readonly balances: Pick<BalanceEvents, "findFallen" | "judgeFall">;
  readonly budgets: Pick<BudgetEvents, "judge">;
  readonly recounts: Pick<BudgetRecounts, "run">;
  /** Finds the windows of budgets that keys were charged in. */
  readonly findWindows: (charged: readonly ChargedKey[]) => Promise<readonly SpentWindow[]>;
  /** Lets one core look for all. */
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Looks at the balances and budgets that stored charges have changed, at most a second later. A settlement marks its
 * tallies in its own transaction, and they stay marked until they were looked at. So, whatever ends meanwhile, no
 * crossing is missed, no charge is missing in a budget, and nothing is announced that is not durable.
 */
export class SpendingWatch {
  readonly #parts: SpendingWatchParts;

  constructor(parts: SpendingWatchParts) {
    this.#parts = parts;
  }

  /** Starts looking. Returns the function that ends it. */
  start(): () => Promise<void> {
    const { clock, logger, lease } = this.#parts;
    const stop = repeat(clock, lookMs, logger, "look at what was spent", () => this.look());
    return async () => {
      stop();
      await lease.release();
    };
  }

  /** Looks at everything that was spent since the last time. */
  async look(): Promise<void> {
    const { store, budgets, recounts, findWindows, lease, clock } = this.#parts;
    while (await lease.hold()) {
      const tallies = await store.unseenTallies(atOnce);
      if (tallies.length === 0) {
        return;
      }
      const windows = await findWindows(
        tallies.map(({ keyId, hour, unbudgeted }) => ({ keyId, at: hour * hourMs, unbudgeted })),
      );
      await recounts.run(windows); // first, so that a failing announcement keeps no charge out of its budget
      try {
        await this.#judgeBalances([...new Set(tallies.map(({ accountId }) => accountId))]);
        await budgets.judge(windows);
      } catch (error) {
        await store.markSeen(tallies.filter(({ hour }) => hour * hourMs < clock.now() - patienceMs));
        throw error;
      }
      await store.markSeen(tallies);
      if (tallies.length < atOnce) {
        return; // the next look sees later charges
      }
    }
  }

  async #judgeBalances(accountIds: readonly string[]): Promise<void> {
    const { storage, balances } = this.#parts;
    for (const id of await balances.findFallen(storage.orm.em.fork(), accountIds)) {
      await inTransaction(storage, async (em) => {
        const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
        if (account !== null) {
          await balances.judgeFall(em, account);
        }
      });
    }
  }
}
