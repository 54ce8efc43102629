import type { PicoUsd } from "../../interface.ts";
import type { BudgetLease, BudgetRequest, Charge } from "../ledger-store.ts";
import type { Runner } from "./runner.ts";

const recount = `
  select cast(coalesce(sum(usage.cost), 0) as integer) as cost from usage
  where usage.account_id = ?3 and usage.settled_at >= ?4
    and usage.key_id in (select id from api_key where id = ?1 or limits_of = ?1)
    and not exists (select 1 from budget_slice
      where budget_slice.id = usage.budget_slice_id and budget_id = ?1 and window_name = ?2)`;

interface BudgetRow {
  readonly bound: PicoUsd;
  readonly leased: PicoUsd;
  readonly spent: PicoUsd;
}

/** Leases a part of a budget. In a transaction. */
export function leaseBudget(
  run: Runner,
  { budgetId, accountId, windowName, windowStart, limit, sliceId, least, most }: BudgetRequest,
  core: { readonly id: string; readonly epoch: number },
): BudgetLease {
  const window = [budgetId, windowName];
  run.run(
    `insert into budget (id, window_name, account_id, bound, prior, leased, spent) values (?, ?, ?, 0, 0, 0, 0)
     on conflict do nothing`,
    [...window, accountId],
  );
  const read = () =>
    run.get<BudgetRow>("select bound, leased, spent from budget where id = ? and window_name = ?", window) as BudgetRow;
  let row = read();
  if (row.bound !== limit) {
    const { cost } = run.get<{ cost: PicoUsd }>(recount, [...window, accountId, windowStart]) as { cost: PicoUsd };
    run.run("update budget set bound = ?, spent = spent - prior + ?, prior = ? where id = ? and window_name = ?", [
      ...[limit, cost, cost],
      ...window,
    ]);
    row = read();
  }
  const free = Math.max(0, limit - row.leased - row.spent);
  const amount = Math.min(free, Math.max(least, most));
  const extended = run.run(
    `insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open)
     values (?, ?, ?, ?, ?, ?, 0, true)
     on conflict (id) do update set granted = granted + excluded.granted where open and epoch = excluded.epoch`,
    [sliceId, ...window, core.id, core.epoch, amount],
  );
  if (extended === 0) {
    return { granted: undefined, unleased: free, elsewhere: 0 };
  }
  run.run("update budget set leased = leased + ? where id = ? and window_name = ?", [amount, ...window]);
  return { granted: amount, unleased: free - amount, elsewhere: 0 };
}

/** Makes a slice smaller. In a transaction. */
export function giveBackBudget(run: Runner, sliceId: string, amount: PicoUsd, epoch: number): void {
  const slice = run.get<{ budgetId: string; windowName: string }>(
    `update budget_slice set granted = granted - ? where id = ? and open and epoch = ?
     returning budget_id as budgetId, window_name as windowName`,
    [amount, sliceId, epoch],
  );
  if (slice !== undefined) {
    const { budgetId, windowName } = slice;
    run.run("update budget set leased = leased - ? where id = ? and window_name = ?", [amount, budgetId, windowName]);
  }
}

/** Ends a slice. In a transaction. */
export function closeBudget(run: Runner, sliceId: string, epoch: number): void {
  const slice = run.get<{ budgetId: string; windowName: string; granted: PicoUsd; spent: PicoUsd }>(
    `update budget_slice set open = false where id = ? and open and epoch = ?
     returning budget_id as budgetId, window_name as windowName, granted, spent`,
    [sliceId, epoch],
  );
  if (slice !== undefined) {
    const { budgetId, windowName, granted, spent } = slice;
    run.run("update budget set leased = leased - ?, spent = spent + ? where id = ? and window_name = ?", [
      ...[granted, spent],
      ...[budgetId, windowName],
    ]);
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
