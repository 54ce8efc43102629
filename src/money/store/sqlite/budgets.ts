import type { Charge } from "../../model/charges/charge.ts";
import type { PicoUsd } from "../../model/interface.ts";
import type {
  BudgetLease,
  BudgetRequest,
  BudgetSliceRange,
  BudgetSpending,
  BudgetWindowRequest,
  SpendingRequest,
  StoredBudgetSlice,
} from "../../model/store/budget.ts";
import { type SlicePart, slicePage } from "../../model/store/wallet.ts";
import { budgetKeys, chargedWithin } from "../rollups.ts";
import type { Epochs } from "./epochs.ts";
import type { Executor, Runner } from "./executor.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The end of a window that never ends: the last hour that a database counts, in milliseconds. */
const endless = (2 ** 31 - 1) * hourMs;

const account = "(select account_id from api_key where id = ?1)";

/** ?1 budget, ?3 and ?4 the window's start and end in days, ?5 and ?6 in hours. */
const charged = chargedWithin({
  account,
  days: { from: "?3", to: "?4" },
  hours: { from: "?5", to: "?6" },
  isOfKeys: `key_id in (${budgetKeys("?1", account)})`,
});

/** ?2 the window's name. What the keys were charged in the window outside of its slices. */
const recount = `
  select max(0, coalesce(sum(cost), 0) - coalesce((
    select sum(spent) from budget_slice where budget_id = ?1 and window_name = ?2), 0)) as cost
  from (${charged})`;

/** ?7 the limit. A window that was not leased under this limit has to be counted. */
const spending = `
  select coalesce(
    (select spent + coalesce((select sum(slice.spent) from budget_slice slice
       where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0)
     from budget where id = ?1 and window_name = ?2 and leased_under = ?7),
    (select sum(cost) from (${charged})), 0) as spent`;

/** The start and the end of a window in days and in hours. */
const toSlots = ({ windowStart, windowEnd = endless }: BudgetWindowRequest) =>
  [dayMs, hourMs].flatMap((slotMs) => [Math.floor(windowStart / slotMs), Math.floor(windowEnd / slotMs)]);

const countedRow =
  "select leased_under, spent_outside_slices from budget where id = ? and window_name = ? and leased_under <> 0";

const extendSlice = `
  insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open)
  values (?, ?, ?, ?, ?, ?, 0, true)
  on conflict (id) do update set granted = granted + excluded.granted where open and epoch = excluded.epoch`;

const ownSlices = `
  select id, granted - spent as unspent from budget_slice where open and core_id = ? and epoch = ?`;

interface BudgetRow {
  readonly leased_under: PicoUsd;
  readonly leased: PicoUsd;
  readonly spent: PicoUsd;
}

/** Makes, shrinks and closes slices of keys' budgets. */
export class Budgets {
  readonly #executor: Executor;
  readonly #core: Epochs;

  constructor(executor: Executor, core: Epochs) {
    this.#executor = executor;
    this.#core = core;
  }

  acquire(request: BudgetRequest): Promise<BudgetLease> {
    return this.#executor.transaction((run) => this.#lease(run, request));
  }

  #lease(run: Runner, request: BudgetRequest): BudgetLease {
    const { budgetId, accountId, windowName, limit, sliceId, isMade, least, most } = request;
    const window = [budgetId, windowName];
    run.run(
      `insert into budget (id, window_name, account_id, leased_under, spent_outside_slices, leased, spent) values (?, ?, ?, 0, 0, 0, 0)
       on conflict do nothing`,
      [...window, accountId],
    );
    const read = () =>
      run.get<BudgetRow>(
        "select leased_under, leased, spent from budget where id = ? and window_name = ?",
        window,
      ) as BudgetRow;
    let row = read();
    if (row.leased_under !== limit) {
      countOutsideSlices(run, request, limit);
      row = read();
    }
    const free = Math.max(0, limit - row.leased - row.spent);
    const amount = Math.min(free, Math.max(least, most));
    const { coreId, epoch } = this.#core;
    const extended = isMade
      ? run.run("update budget_slice set granted = granted + ? where id = ? and open and epoch = ?", [
          ...[amount, sliceId, epoch],
        ])
      : run.run(extendSlice, [sliceId, ...window, coreId, epoch, amount]);
    if (extended === 0) {
      return { granted: undefined, unleased: free, elsewhere: 0 };
    }
    run.run("update budget set leased = leased + ? where id = ? and window_name = ?", [amount, ...window]);
    return { granted: amount, unleased: free - amount, elsewhere: 0 };
  }

  open(range: BudgetSliceRange): Promise<StoredBudgetSlice[]> {
    const { coreId, epoch } = this.#core;
    return this.#executor.plain(({ all }) =>
      "sliceId" in range
        ? all<StoredBudgetSlice>(`${ownSlices} and id = ?`, [coreId, epoch, range.sliceId])
        : all<StoredBudgetSlice>(`${ownSlices} and id > ? order by id limit ?`, [
            coreId,
            epoch,
            range.after,
            slicePage,
          ]),
    );
  }

  giveBack(parts: readonly SlicePart[]): Promise<void> {
    return this.#executor.transaction((run) => {
      for (const { sliceId, amount } of parts) {
        const slice = run.get<{ budgetId: string; windowName: string }>(
          `update budget_slice set granted = granted - ? where id = ? and open and epoch = ?
           returning budget_id as budgetId, window_name as windowName`,
          [amount, sliceId, this.#core.epoch],
        );
        if (slice !== undefined) {
          const window = [slice.budgetId, slice.windowName];
          run.run("update budget set leased = leased - ? where id = ? and window_name = ?", [amount, ...window]);
        }
      }
    });
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#executor.transaction((run) => {
      for (const id of sliceIds) {
        const slice = run.get<{ budgetId: string; windowName: string; granted: PicoUsd; spent: PicoUsd }>(
          `update budget_slice set open = false where id = ? and open and epoch = ?
           returning budget_id as budgetId, window_name as windowName, granted, spent`,
          [id, this.#core.epoch],
        );
        if (slice !== undefined) {
          const { budgetId, windowName, granted, spent } = slice;
          run.run("update budget set leased = leased - ?, spent = spent + ? where id = ? and window_name = ?", [
            ...[granted, spent],
            ...[budgetId, windowName],
          ]);
        }
      }
    });
  }

  spending(request: SpendingRequest): Promise<BudgetSpending> {
    const { budgetId, windowName, limit } = request;
    const values = [budgetId, windowName, ...toSlots(request), limit];
    return this.#executor.plain(({ get }) => ({ spent: get<BudgetSpending>(spending, values)?.spent ?? 0 }));
  }

  recount(request: BudgetWindowRequest): Promise<boolean> {
    return this.#executor.transaction((run) => {
      const { budgetId, windowName } = request;
      const before = run.get<{ leased_under: PicoUsd; spent_outside_slices: PicoUsd }>(countedRow, [
        budgetId,
        windowName,
      ]);
      return (
        before !== undefined && countOutsideSlices(run, request, before.leased_under) !== before.spent_outside_slices
      );
    });
  }
}

/**
 * Counts anew what the keys of a budget were charged outside of its slices. Returns that sum. Call it in a transaction.
 */
function countOutsideSlices(run: Runner, request: BudgetWindowRequest, limit: PicoUsd): PicoUsd {
  const window = [request.budgetId, request.windowName];
  const cost = run.get<{ cost: PicoUsd }>(recount, [...window, ...toSlots(request)])?.cost ?? 0;
  run.run(
    "update budget set leased_under = ?, spent = spent - spent_outside_slices + ?, spent_outside_slices = ? where id = ? and window_name = ?",
    [...[limit, cost, cost], ...window],
  );
  return cost;
}

/**
 * Counts the cost of stored charges in their budgets, whether or not their slices are still open. Call it in a
 * transaction. Returns the slices that do not exist, because an older state of the database was restored: nothing
 * counts in them.
 */
export function spendBudgets(run: Runner, charges: readonly Charge[]): ReadonlySet<string> {
  const forgotten = new Set<string>();
  const costs = new Map<string, PicoUsd>();
  for (const { budgetSliceId, cost } of charges) {
    if (budgetSliceId !== undefined) {
      costs.set(budgetSliceId, (costs.get(budgetSliceId) ?? 0) + cost);
    }
  }
  for (const [sliceId, cost] of costs) {
    const slice = run.get<{ open: number; budgetId: string; windowName: string }>(
      `update budget_slice set spent = spent + ? where id = ?
       returning open, budget_id as budgetId, window_name as windowName`,
      [cost, sliceId],
    );
    if (slice === undefined) {
      forgotten.add(sliceId);
    } else if (!slice.open) {
      const { budgetId, windowName } = slice;
      run.run("update budget set spent = spent + ? where id = ? and window_name = ?", [cost, budgetId, windowName]);
    }
  }
  return forgotten;
}
