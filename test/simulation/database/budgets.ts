import { chargedWithin } from "#src/money/store/rollups.ts";
import { countEpoch } from "./own-epoch.ts";
import type { Meaning, Tables } from "./statement.ts";

// Implements the statements about budgets, like src/money/store/postgresql/wallet/budgets.ts.

interface ClosingSlice {
  readonly id: string;
  readonly budget_id: string;
  readonly window_name: string;
  readonly granted: number;
  readonly spent: number;
}

/** Closes slices of budgets: their spending counts, and the rest can be leased again. */
export function closeBudgetSlices(tables: Tables, slices: readonly ClosingSlice[]): readonly object[] {
  for (const { id, budget_id, window_name, granted, spent } of slices) {
    tables.run("update budget_slice set open = false where id = ?", id);
    tables.run(
      "update budget set leased = leased - ?, spent = spent + ? where id = ? and window_name = ?",
      ...[granted, spent, budget_id, window_name],
    );
  }
  return [];
}

/** Adds costs to their budgets, whether or not the slices are open. */
export function spendBudgets(tables: Tables, costs: ReadonlyMap<string, number>): void {
  for (const [id, cost] of costs) {
    const [slice] = tables.all<{ open: number; budget_id: string; window_name: string }>(
      "update budget_slice set spent = spent + ? where id = ? returning open, budget_id, window_name",
      ...[cost, id],
    );
    if (slice !== undefined && slice.open === 0) {
      const window = [slice.budget_id, slice.window_name];
      tables.run("update budget set spent = spent + ? where id = ? and window_name = ?", cost, ...window);
    }
  }
}

/** ?1: the budget. ?3 and ?4: the window's first day and the day after its last. ?5 and ?6: the same in hours. */
const charged = chargedWithin({
  account: "(select account_id from api_key where id = ?1)",
  isOfKeys: "key_id in (select id from api_key where id = ?1 or limits_of = ?1)",
  days: { from: "?3", to: "?4" },
  hours: { from: "?5", to: "?6" },
});

export const budgetStatements: Readonly<Record<string, Meaning>> = {
  "make budget"(tables, [id, window, account]) {
    tables.run(
      `insert into budget (id, window_name, account_id, leased_under, spent_outside_slices, leased, spent) values (?, ?, ?, 0, 0, 0, 0)
       on conflict do nothing`,
      ...[String(id), String(window), String(account)],
    );
    return [];
  },

  "lock budget": (tables, [id, window, core, epoch]) =>
    tables
      .all<object>(
        "select leased_under, leased, spent from budget where id = ? and window_name = ?",
        ...[String(id), String(window)],
      )
      .map((budget) => ({ ...budget, own: countEpoch(tables, core, epoch) })),

  "lock counted budget": (tables, [id, window]) =>
    tables.all(
      "select leased_under, spent_outside_slices from budget where id = ? and window_name = ? and leased_under <> 0",
      ...[String(id), String(window)],
    ),

  "recount budget"(tables, [id, window, start, limit, end]) {
    const slots = [86_400_000, 3_600_000].flatMap((ms) =>
      [Number(start), Number(end)].map((at) => Math.floor(at / ms)),
    );
    const [counted] = tables.all<{ cost: number }>(
      `select max(0, coalesce(sum(cost), 0) - coalesce((
         select sum(spent) from budget_slice where budget_id = ?1 and window_name = ?2), 0)) as cost
       from (${charged})`,
      ...[String(id), String(window), ...slots],
    );
    const cost = counted?.cost ?? 0;
    return tables.all(
      `update budget set leased_under = ?, spent = spent - spent_outside_slices + ?, spent_outside_slices = ? where id = ? and window_name = ?
       returning leased, spent, spent_outside_slices`,
      ...[Number(limit), cost, cost, String(id), String(window)],
    );
  },

  "lock budget slice": (tables, [slice, core, epoch, step]) =>
    tables.all(
      "select granted from budget_slice where id = ? and open and core_id = ? and epoch = ? and step < ?",
      ...[String(slice), String(core), Number(epoch), Number(step)],
    ),

  "make budget slice": (tables, [slice, id, window, core, epoch, size, step]) =>
    tables.all(
      `insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open, step)
       values (?, ?, ?, ?, ?, ?, 0, true, ?) on conflict do nothing returning id`,
      ...[String(slice), String(id), String(window), String(core), Number(epoch), Number(size), Number(step)],
    ),

  "resize budget slice": (tables, [slice, size, step]) =>
    tables.all(
      "update budget_slice set granted = ?, step = ? where id = ? returning id",
      ...[Number(size), Number(step), String(slice)],
    ),

  "lend budget"(tables, [id, window, amount]) {
    const values = [Number(amount), String(id), String(window)] as const;
    tables.run("update budget set leased = leased + ? where id = ? and window_name = ?", ...values);
    return [];
  },

  "budget elsewhere": (tables, [id, window, slice]) =>
    tables.all(
      `select coalesce(sum(max(granted - spent, 0)), 0) as elsewhere from budget_slice
       where budget_id = ? and window_name = ? and open and id <> ?`,
      ...[String(id), String(window), String(slice)],
    ),

  "budget spending": (tables, [id, window]) =>
    tables.all(
      `select budget.spent + coalesce((select sum(slice.spent) from budget_slice slice
         where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0) as spent
       from budget where id = ? and window_name = ?`,
      ...[String(id), String(window)],
    ),

  "close budgets"(tables, [slices, core, epoch]) {
    const mine = (slices as string[]).flatMap((id) =>
      tables.all<ClosingSlice>(
        `select id, budget_id, window_name, granted, spent from budget_slice
         where id = ? and open and core_id = ? and epoch = ?`,
        ...[id, String(core), Number(epoch)],
      ),
    );
    return closeBudgetSlices(tables, mine);
  },

  "budget slice": (tables, [core, epoch, slice]) =>
    tables.all(
      `select id, granted, granted - spent as unspent from budget_slice
       where open and core_id = ? and epoch = ? and id = ?`,
      ...[String(core), Number(epoch), String(slice)],
    ),

  "budget slice page": (tables, [core, epoch, after, limit]) =>
    tables.all(
      `select id, granted, granted - spent as unspent from budget_slice
       where open and core_id = ? and epoch = ? and id > ? order by id limit ?`,
      ...[String(core), Number(epoch), String(after), Number(limit)],
    ),

  "give back budgets"(tables, [slices, sizes, steps, core, epoch]) {
    for (const [at, id] of (slices as string[]).entries()) {
      const step = Number((steps as number[])[at]);
      const mine = tables.get<{ budget_id: string; window_name: string; granted: number }>(
        `select budget_id, window_name, granted from budget_slice
         where id = ? and open and core_id = ? and epoch = ? and step < ?`,
        ...[id, String(core), Number(epoch), step],
      );
      if (mine !== undefined) {
        const size = Math.min(mine.granted, Number((sizes as number[])[at]));
        const back = [mine.granted - size, mine.budget_id, mine.window_name] as const;
        tables.run("update budget_slice set granted = ?, step = ? where id = ?", size, step, id);
        tables.run("update budget set leased = leased - ? where id = ? and window_name = ?", ...back);
      }
    }
    return [];
  },
};
