import { heldByACore, type Rule, spentOfReceipts } from "./reconcile-rules.ts";

/** The number of the month that a day is in. Days and months are counted since 1970. */
export const monthOf = {
  sqlite:
    "(cast(strftime('%Y', day * 86400, 'unixepoch') as integer) - 1970) * 12 + cast(strftime('%m', day * 86400, 'unixepoch') as integer) - 1",
  postgresql:
    "((extract(year from date '1970-01-01' + day) - 1970) * 12 + extract(month from date '1970-01-01' + day))::int - 1",
} as const;

/** The windows that a day is in, named as by `windowAt` of ledger/budget/budget-window.ts. */
const windowsOf = (dialect: "sqlite" | "postgresql") => [
  "'total'",
  "'day ' || day",
  "'week ' || ((day + 3) / 7)",
  `'month ' || (${monthOf[dialect]})`,
];

/** What slices of a budget's window have spent, found by the budget. */
const spentOf =
  "select sum(spent) from budget_slice where budget_slice.budget_id = budget.id and budget_slice.window_name = budget.window_name";

/**
 * Compares `spent_outside_slices` with what the sums of usage say that a budget's keys were charged in its window outside of its
 * slices. Skips budgets with charges that the spending watch has not looked at yet, and windows that are counted anew
 * at their next lease.
 */
const countsWhatIsOutside = (dialect: "sqlite" | "postgresql"): Rule => ({
  name: "a budget has counted what its keys were charged in its window outside of its slices",
  table: "budget",
  only: dialect,
  sql: `
    select * from (with key_budget as (
      select cast(id as text) as key_id, account_id, coalesce(limits_of, id) as budget_id from api_key
      where coalesce(limits_of, id) in (select id from near_budget where leased_under <> 0)),
    spent as (
      select budget_id, day, sum(cost) as cost from key_budget join (
        select account_id, key_id, slot as day, cost_high * 1000000 + cost_low as cost from usage_rollup where span = 'day'
        union all
        select account_id, key_id, hour / 24, cost_high * 1000000 + cost_low from usage_tally) sums using (account_id, key_id)
      group by budget_id, day),
    charged as (
      select budget_id, window_name, sum(cost) as cost from (
        ${windowsOf(dialect)
          .map((name) => `select budget_id, ${name} as window_name, cost from spent`)
          .join(" union all ")}) parts
      group by budget_id, window_name),
    outside as (
      select budget.id, spent_outside_slices, coalesce(charged.cost, 0) - coalesce((${spentOf}), 0) as cost
      from near_budget budget
      left join charged on charged.budget_id = budget.id and charged.window_name = budget.window_name
      where leased_under <> 0),
    counted as (
      select id, spent_outside_slices, case when cost > 0 then cost else 0 end as cost from outside)
    select id, cost as expected, spent_outside_slices as found from counted
    where spent_outside_slices <> cost and not exists (
      select 1 from usage_tally join key_budget using (account_id, key_id) where budget_id = counted.id and not seen)) wrong`,
});

/** The rules that budgets of keys must keep. A finding names the first key of the budget's chain, or the slice. */
export const budgetRules: readonly Rule[] = [
  countsWhatIsOutside("sqlite"),
  countsWhatIsOutside("postgresql"),
  {
    name: "a budget has lent what its open slices were granted",
    table: "budget",
    sql: `
      select budget.id as id, coalesce(lent.amount, 0) as expected, leased as found
      from budget left join (
        select budget_id, window_name, sum(granted) as amount from budget_slice where open group by budget_id, window_name) lent
        on lent.budget_id = budget.id and lent.window_name = budget.window_name
      where leased <> coalesce(lent.amount, 0)`,
  },
  {
    name: "a budget's spending is that before its limit and that of its closed slices",
    table: "budget",
    sql: `
      select id, expected, found from (
        select id, spent_outside_slices + coalesce((${spentOf} and not open), 0) as expected, spent as found
        from near_budget budget) budgets
      where found <> expected`,
  },
  spentOfReceipts(
    "a budget's slice has spent what its receipts cost",
    "budget_slice",
    "select budget_slice_id as slice_id, cost from receipt where budget_slice_id is not null",
  ),
  heldByACore("an open slice of a budget belongs to a core that lives or has just died", "budget_slice"),
];
