import type { PicoUsd } from "../../interface.ts";
import type {
  BudgetLease,
  BudgetRequest,
  BudgetSliceRange,
  BudgetSpending,
  SpendingRequest,
  StoredBudgetSlice,
} from "../../ledger/budget/budget-store.ts";
import type { Charge } from "../../ledger/settlement/charge.ts";
import { type SlicePart, slicePage } from "../../ledger/wallet/wallet-store.ts";
import { chargedSince } from "../rollups.ts";
import type { Epochs } from "./epochs.ts";
import type { Executor, Runner } from "./executor.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** ?1 budget, ?3 the window's start in days, ?4 in hours. */
const charged = chargedSince({
  ...{ account: "(select account_id from api_key where id = ?1)", day: "?3", hour: "?4" },
  keys: "select id from api_key where id = ?1 or limits_of = ?1",
});

/** ?2 the window's name. What the keys were charged in the window outside of its slices. */
const recount = `
  select max(0, coalesce(sum(cost), 0) - coalesce((
    select sum(spent) from budget_slice where budget_id = ?1 and window_name = ?2), 0)) as cost
  from (${charged})`;

/** ?5 the limit. What has not been leased by this limit has to be counted. */
const spending = `
  select coalesce(
    (select spent + coalesce((select sum(slice.spent) from budget_slice slice
       where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0)
     from budget where id = ?1 and window_name = ?2 and bound = ?5),
    (select sum(cost) from (${charged})), 0) as spent`;

/** The start of a window in days and in hours. */
const startOf = (ms: number) => [Math.floor(ms / dayMs), Math.floor(ms / hourMs)];

const extendSlice = `
  insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open)
  values (?, ?, ?, ?, ?, ?, 0, true)
  on conflict (id) do update set granted = granted + excluded.granted where open and epoch = excluded.epoch`;

const ownSlices = `
  select id, granted - spent as unspent from budget_slice where open and core_id = ? and epoch = ?`;

interface BudgetRow {
  readonly bound: PicoUsd;
  readonly leased: PicoUsd;
  readonly spent: PicoUsd;
}

/** Slices of the budgets of keys: made, made smaller and closed. */
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

  #lease(
    run: Runner,
    { budgetId, accountId, windowName, windowStart, limit, sliceId, isMade, least, most }: BudgetRequest,
  ): BudgetLease {
    const window = [budgetId, windowName];
    run.run(
      `insert into budget (id, window_name, account_id, bound, prior, leased, spent) values (?, ?, ?, 0, 0, 0, 0)
       on conflict do nothing`,
      [...window, accountId],
    );
    const read = () =>
      run.get<BudgetRow>(
        "select bound, leased, spent from budget where id = ? and window_name = ?",
        window,
      ) as BudgetRow;
    let row = read();
    if (row.bound !== limit) {
      const { cost } = run.get<{ cost: PicoUsd }>(recount, [...window, ...startOf(windowStart)]) as { cost: PicoUsd };
      run.run("update budget set bound = ?, spent = spent - prior + ?, prior = ? where id = ? and window_name = ?", [
        ...[limit, cost, cost],
        ...window,
      ]);
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

  spending({ budgetId, windowName, windowStart, limit }: SpendingRequest): Promise<BudgetSpending> {
    const values = [budgetId, windowName, ...startOf(windowStart), limit];
    return this.#executor.plain(({ get }) => ({ spent: get<BudgetSpending>(spending, values)?.spent ?? 0 }));
  }
}

/** Counts what stored charges cost in their budgets, whether or not their slices are still open. In a transaction. */
export function spendBudgets(run: Runner, charges: readonly Charge[]): void {
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
    if (slice !== undefined && !slice.open) {
      const { budgetId, windowName } = slice;
      run.run("update budget set spent = spent + ? where id = ? and window_name = ?", [cost, budgetId, windowName]);
    }
  }
}
