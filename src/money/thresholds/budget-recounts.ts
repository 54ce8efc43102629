import { type BudgetPeriod, budgetPeriods } from "#lib/limits/budget-period.ts";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import type { Storage } from "#src/storage/storage.ts";
import { toWindowRequest, windowAt } from "../model/budget-window.ts";
import type { BudgetStore } from "../model/store/budget.ts";
import type { CountedWindow } from "../model/store/tally.ts";
import type { AccountFailures } from "./account-failures.ts";
import type { SpentWindow } from "./spent-windows.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly store: Pick<BudgetStore, "recountBudget">;
  /** Has cores give back what they have leased of an account but do not need. */
  readonly callIn: (accountId: string) => Promise<void>;
}

/**
 * Counts charges outside of a budget's slices: requests admitted before their key had the budget, or under another
 * period of it, hold nothing of it. The whole sum that the keys were charged outside of the slices is counted anew, so
 * nothing counts twice, however often this is done and by whichever core.
 */
export class BudgetRecounts {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Counts anew the windows that may have charges outside of their slices. Notes the accounts where that fails. Returns what
   * was counted.
   */
  async run(windows: readonly SpentWindow[], failures: AccountFailures): Promise<CountedWindow[]> {
    const { store, callIn } = this.#parts;
    const counted: CountedWindow[] = [];
    const changed = new Set<string>();
    for (const { key, budgetId, window } of await this.#findDoubtful(windows)) {
      await failures.of([key.accountId], async () => {
        const found = await store.recountBudget(toWindowRequest(budgetId, window));
        if (found !== undefined) {
          counted.push({ budgetId, windowName: window.name, outside: found.outside });
        }
        if (found?.isChanged) {
          changed.add(key.accountId);
        }
      });
    }
    for (const accountId of changed) {
      // Cores may have leased money that has turned out to be spent.
      await failures.of([accountId], () => callIn(accountId));
    }
    return counted;
  }

  /**
   * Windows with charges in no slice, or in slices of another period: then the budget has a row of that period, too.
   */
  async #findDoubtful(windows: readonly SpentWindow[]): Promise<SpentWindow[]> {
    const others = windows
      .filter(({ unbudgeted }) => !unbudgeted)
      .flatMap(({ key, budgetId, at }) =>
        otherPeriods(key.limits.budgetPeriod).map((period) => ({
          id: budgetId,
          windowName: windowAt(period, at).name,
        })),
      );
    const found =
      others.length === 0
        ? []
        : await this.#parts.storage.orm.em.fork().find(
            Budget,
            {
              id: { $in: [...new Set(others.map(({ id }) => id))] },
              windowName: { $in: [...new Set(others.map(({ windowName }) => windowName))] },
            },
            { fields: ["id", "windowName"] },
          );
    const rows = new Set(found.map(({ id, windowName }) => `${id} ${windowName}`));
    return windows.filter(
      ({ key, budgetId, at, unbudgeted }) =>
        unbudgeted ||
        otherPeriods(key.limits.budgetPeriod).some((period) => rows.has(`${budgetId} ${windowAt(period, at).name}`)),
    );
  }
}

function otherPeriods(period: BudgetPeriod | null | undefined): BudgetPeriod[] {
  return budgetPeriods.filter((other) => other !== (period ?? "total"));
}
