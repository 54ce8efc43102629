import { LockMode } from "@mikro-orm/sql";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { hourMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import { Account } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { endingWork, type WorkLease } from "#src/storage/work-lease.ts";
import type { CountedWindow, TallyStore, UnseenTally } from "../model/store/tally.ts";
import { AccountFailures } from "./account-failures.ts";
import type { BalanceEvents } from "./balance-events.ts";
import type { BudgetEvents } from "./budget-events.ts";
import type { BudgetRecounts } from "./budget-recounts.ts";
import type { ChargedKey, SpentWindow } from "./spent-windows.ts";

const lookMs = 1000;
/** Tallies that cannot be looked at for this long are skipped: they would keep their hour from being folded. */
const patienceMs = 24 * hourMs;
/** The most tallies in one look. */
const atOnce = 500;

export interface Dependencies {
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
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts looking. Returns the function that ends it. */
  start(): () => Promise<void> {
    const { clock, logger, lease } = this.#parts;
    return endingWork(lease, [repeat(clock, lookMs, logger, "look at what was spent", () => this.look())]);
  }

  /** Looks at everything that was spent since the last time. Throws when some of it stays for the next look. */
  async look(): Promise<void> {
    const { storage, store, lease, clock } = this.#parts;
    const failures = new AccountFailures();
    let left = 0;
    while (await lease.hold()) {
      // What a look announces is not in a database that has gone back since.
      const turns = storage.dialect === "postgresql" ? storage.history.turns : undefined;
      const unseen = await store.unseenTallies(atOnce + left);
      const tallies = unseen.filter(({ accountId }) => !failures.has(accountId));
      if (tallies.length > 0) {
        const counted = await this.#lookAt(tallies, failures);
        const isOver = ({ hour }: UnseenTally) => hour * hourMs < clock.now() - patienceMs;
        const seen = tallies.filter((tally) => !failures.has(tally.accountId) || isOver(tally));
        await store.markSeen(seen, counted, turns);
        left += tallies.length - seen.length;
      }
      if (tallies.length < atOnce) {
        break; // the next look sees later charges
      }
    }
    failures.rethrow();
  }

  /** Looks at tallies. What fails for one account stops nothing for the others. Returns the sums that were counted anew. */
  async #lookAt(tallies: readonly UnseenTally[], failures: AccountFailures): Promise<CountedWindow[]> {
    const { budgets, recounts, findWindows } = this.#parts;
    const accountIds = [...new Set(tallies.map(({ accountId }) => accountId))];
    const charged = tallies.map(({ keyId, hour, unbudgeted }) => ({ keyId, at: hour * hourMs, unbudgeted }));
    const windows = await findWindows(charged);
    // First, so that a failing announcement keeps no charge out of its budget.
    const counted: CountedWindow[] = [];
    await failures.of(accountIds, async () => counted.push(...(await recounts.run(windows, failures))));
    await failures.of(accountIds, () => this.#judgeBalances(accountIds, failures));
    await failures.of(accountIds, () => budgets.judge(windows, failures));
    return counted;
  }

  async #judgeBalances(accountIds: readonly string[], failures: AccountFailures): Promise<void> {
    const { storage, balances } = this.#parts;
    for (const id of await balances.findFallen(storage.orm.em.fork(), accountIds)) {
      await failures.of([id], () =>
        inTransaction(storage, async (em) => {
          const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
          if (account !== null) {
            await balances.judgeFall(em, account);
          }
        }),
      );
    }
  }
}
