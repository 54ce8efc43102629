// PostgreSQL's statements about budgets: their windows, and the slices of these that cores lease.

import { budgetKeys, chargedWithin } from "../../rollups.ts";
import { countEpoch } from "../epochs.ts";
import type { Statement } from "../executor.ts";

/** $1 budget, $2 window, $3 account. */
export const makeBudget: Statement = {
  name: "make budget",
  text: `
  insert into budget (id, window_name, account_id, leased_under, spent_outside_slices, leased, spent) values ($1, $2, $3, 0, 0, 0, 0)
  on conflict (id, window_name) do nothing`,
};

/** $1 budget, $2 window, $3 core, $4 epoch. */
export const lockBudget: Statement = {
  name: "lock budget",
  text: `
  select leased_under, leased, spent, ${countEpoch("$3", "$4")} as own from budget where id = $1 and window_name = $2 for update`,
};

/** The end of a window that never ends: the last hour that a database counts, in milliseconds. */
export const endless = (2 ** 31 - 1) * 3_600_000;

const slots = (of: string) => ({ from: `floor($3::float8 / ${of})::int`, to: `floor($5::float8 / ${of})::int` });

const account = "(select account_id from api_key where id = $1)";

/**
 * $1 budget, $3 the window's start in milliseconds, $5 its end. The keys are an array, which is made once: a statement
 * planned for all values would look them up again for each row of sums.
 */
const charged = chargedWithin({
  account,
  isOfKeys: `key_id = any (array(select id::text from (${budgetKeys("$1", account)}) keys))`,
  days: slots("86400000"),
  hours: slots("3600000"),
});

/** $1 budget, $2 window. No row: the window is counted anew at its next lease. */
export const lockCounted: Statement = {
  name: "lock counted budget",
  text: "select leased_under, spent_outside_slices from budget where id = $1 and window_name = $2 and leased_under <> 0 for update",
};

/** $2 window, $4 the limit. Counts anew what the keys of the chain were charged in the window outside of its slices. */
export const recountBudget: Statement = {
  name: "recount budget",
  text: `
  with counted as (
    select greatest(0, coalesce(sum(cost), 0) - coalesce((
      select sum(spent) from budget_slice where budget_id = $1 and window_name = $2), 0))::bigint as cost
    from (${charged}) parts)
  update budget set leased_under = $4, spent = spent - spent_outside_slices + counted.cost, spent_outside_slices = counted.cost
  from counted where id = $1 and window_name = $2 returning leased, spent, spent_outside_slices`,
};

/**
 * $1 slice, $2 core, $3 epoch, $4 the step. No row: the slice is not made yet or was closed, a failover into the past has
 * forgotten it, or a later step came before.
 */
export const lockSlice: Statement = {
  name: "lock budget slice",
  text: `
  select granted from budget_slice where id = $1 and open and core_id = $2 and epoch = $3 and step < $4 for update`,
};

/** $1 slice, $2 budget, $3 window, $4 core, $5 epoch, $6 its size, $7 the step. No row: there was such a slice. */
export const makeSlice: Statement = {
  name: "make budget slice",
  text: `
  insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open, step)
  values ($1, $2, $3, $4, $5, $6, 0, true, $7) on conflict do nothing returning id`,
};

/** $1 slice, $2 its size, $3 the step. Call it once the slice is locked. */
export const resizeSlice: Statement = {
  name: "resize budget slice",
  text: "update budget_slice set granted = $2, step = $3 where id = $1 returning id",
};

/** $1 budget, $2 window, $3 amount. */
export const lendBudget: Statement = {
  name: "lend budget",
  text: "update budget set leased = leased + $3 where id = $1 and window_name = $2",
};

/** $1 budget, $2 window, $3 slice. */
export const elsewhereSql: Statement = {
  name: "budget elsewhere",
  text: `
  select coalesce(sum(greatest(granted - spent, 0)), 0)::text as elsewhere from budget_slice
  where budget_id = $1 and window_name = $2 and open and id <> $3`,
};

/** $1 core, $2 epoch, $3 slice. */
export const ownSlice: Statement = {
  name: "budget slice",
  text: `
  select id, granted, granted - spent as unspent from budget_slice
  where open and core_id = $1 and epoch = $2 and id = $3`,
};

/** $1 core, $2 epoch, $3 the slice before the page, $4 its size. */
export const slicesAfter: Statement = {
  name: "budget slice page",
  text: `
  select id, granted, granted - spent as unspent from budget_slice
  where open and core_id = $1 and epoch = $2 and id > $3 order by id limit $4`,
};

/** Closes the slices of budgets that `mine` selects. */
const closing = (name: string, mine: string): Statement => ({
  name,
  text: `
  with mine as (${mine}),
  closed as (update budget_slice set open = false from mine where budget_slice.id = mine.id),
  sums as (
    select budget_id, window_name, sum(granted)::bigint as granted, sum(spent)::bigint as spent from mine group by 1, 2),
  held as (
    select id, window_name from budget where (id, window_name) in (select budget_id, window_name from sums)
    order by id, window_name for update)
  update budget set leased = budget.leased - sums.granted, spent = budget.spent + sums.spent
  from sums, held
  where budget.id = sums.budget_id and budget.window_name = sums.window_name
    and held.id = budget.id and held.window_name = budget.window_name`,
});

/** $1 slices, $2 core, $3 epoch. */
export const closeBudgetsSql = closing(
  "close budgets",
  `
  select id, budget_id, window_name, granted, spent from budget_slice
  where id = any($1::uuid[]) and open and core_id = $2 and epoch = $3 order by id for update`,
);

/** Slices of dead cores. $1 the most. */
export const reapBudgetsSql = closing(
  "reap budgets",
  `
  select budget_slice.id, budget_id, window_name, granted, spent from budget_slice
  join core on core.id = budget_slice.core_id and core.epoch = budget_slice.epoch
  where open and core.dead_beat is not distinct from core.beats
  order by budget_slice.id limit $1 for update of budget_slice skip locked for share of core skip locked`,
);

/** $1 slices, $2 their sizes from now on, $3 their steps, $4 core, $5 epoch. */
export const giveBackBudgetsSql: Statement = {
  name: "give back budgets",
  text: `
  with part as (select * from unnest($1::uuid[], $2::bigint[], $3::int[]) as t(slice_id, size, next)),
  mine as (
    select id, budget_id, window_name, next, least(granted, size) as size, granted - least(granted, size) as amount
    from budget_slice join part on part.slice_id = budget_slice.id
    where open and core_id = $4 and epoch = $5 and step < next order by id for update of budget_slice),
  smaller as (
    update budget_slice set granted = mine.size, step = mine.next from mine where budget_slice.id = mine.id),
  sums as (select budget_id, window_name, sum(amount)::bigint as amount from mine group by 1, 2),
  held as (
    select id, window_name from budget where (id, window_name) in (select budget_id, window_name from sums)
    order by id, window_name for update)
  update budget set leased = budget.leased - sums.amount from sums, held
  where budget.id = sums.budget_id and budget.window_name = sums.window_name
    and held.id = budget.id and held.window_name = budget.window_name`,
};

/** $2 window, $4 the limit. A window that was not leased under this limit has to be counted. */
export const budgetSpendingSql: Statement = {
  name: "budget spending",
  text: `
  select coalesce(
    (select budget.spent + coalesce((select sum(slice.spent) from budget_slice slice
       where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0)
     from budget where id = $1 and window_name = $2 and leased_under = $4),
    (select sum(cost) from (${charged}) parts), 0)::text as spent`,
};
