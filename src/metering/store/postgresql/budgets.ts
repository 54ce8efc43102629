import type {
  BudgetLease,
  BudgetRequest,
  BudgetSliceRange,
  BudgetSpending,
  BudgetWindowRequest,
  SpendingRequest,
  StoredBudgetSlice,
} from "../../ledger/budget/budget-store.ts";
import { type SlicePart, slicePage } from "../../ledger/wallet/wallet-store.ts";
import { budgetKeys, chargedWithin } from "../rollups.ts";
import { countEpoch, type Epochs } from "./epochs.ts";
import type { Executor, Query, Statement } from "./executor.ts";

/** Slices of budgets that are taken from dead cores at once. */
const mostReaped = 1000;

/** $1 budget, $2 window, $3 account. */
const makeBudget: Statement = {
  name: "make budget",
  text: `
  insert into budget (id, window_name, account_id, bound, prior, leased, spent) values ($1, $2, $3, 0, 0, 0, 0)
  on conflict (id, window_name) do nothing`,
};

/** $1 budget, $2 window, $3 core, $4 epoch. */
const lockBudget: Statement = {
  name: "lock budget",
  text: `
  select bound, leased, spent + carried as spent, ${countEpoch("$3", "$4")} as own from budget where id = $1 and window_name = $2 for update`,
};

/** The end of windows that have none: the last hour that a database counts, in milliseconds. */
const endless = (2 ** 31 - 1) * 3_600_000;

const slots = (of: string) => ({ from: `floor($3::float8 / ${of})::int`, to: `floor($5::float8 / ${of})::int` });

const account = "(select account_id from api_key where id = $1)";

/**
 * $1 budget, $3 the window's start in milliseconds, $5 its end. The keys are an array, which is made once: a statement that is
 * planned for all values looked them up anew for each row of sums.
 */
const charged = chargedWithin({
  account,
  isOfKeys: `key_id = any (array(select id::text from (${budgetKeys("$1", account)}) keys))`,
  days: slots("86400000"),
  hours: slots("3600000"),
});

/** $1 budget, $2 window. No row: it is counted anew at its next lease. */
const lockCounted: Statement = {
  name: "lock counted budget",
  text: "select bound, prior from budget where id = $1 and window_name = $2 and bound <> 0 for update",
};

/** $2 window, $4 the limit. Counts anew what the keys of the chain were charged in the window outside of its slices. */
const recountBudget: Statement = {
  name: "recount budget",
  text: `
  with counted as (
    select greatest(0, coalesce(sum(cost), 0) - coalesce((
      select sum(spent) from budget_slice where budget_id = $1 and window_name = $2), 0))::bigint as cost
    from (${charged}) parts)
  update budget set bound = $4, spent = spent - prior + counted.cost, prior = counted.cost
  from counted where id = $1 and window_name = $2 returning leased, spent + carried as spent, prior`,
};

/** $1 slice, $2 core, $3 epoch, $4 amount. No row: it was closed, or a failover into the past has forgotten it. */
const growSlice: Statement = {
  name: "grow budget slice",
  text: `
  update budget_slice set granted = granted + $4 where id = $1 and open and core_id = $2 and epoch = $3 returning id`,
};

/** $1 slice, $2 budget, $3 window, $4 core, $5 epoch, $6 amount. No row: it was closed. */
const extendSlice: Statement = {
  name: "extend budget slice",
  text: `
  insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open)
  values ($1, $2, $3, $4, $5, $6, 0, true)
  on conflict (id) do update set granted = budget_slice.granted + excluded.granted
    where budget_slice.open and budget_slice.core_id = $4 and budget_slice.epoch = $5
  returning id`,
};

/** $1 budget, $2 window, $3 amount. */
const lendBudget: Statement = {
  name: "lend budget",
  text: "update budget set leased = leased + $3 where id = $1 and window_name = $2",
};

/** $1 budget, $2 window, $3 slice. */
const elsewhereSql: Statement = {
  name: "budget elsewhere",
  text: `
  select coalesce(sum(greatest(granted - spent, 0)), 0)::text as elsewhere from budget_slice
  where budget_id = $1 and window_name = $2 and open and id <> $3`,
};

/** $1 core, $2 epoch, $3 slice. */
const ownSlice: Statement = {
  name: "budget slice",
  text: `
  select id, granted - spent as unspent from budget_slice where open and core_id = $1 and epoch = $2 and id = $3`,
};

/** $1 core, $2 epoch, $3 the slice before the page, $4 its size. */
const slicesAfter: Statement = {
  name: "budget slice page",
  text: `
  select id, granted - spent as unspent from budget_slice
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
const closeBudgetsSql = closing(
  "close budgets",
  `
  select id, budget_id, window_name, granted, spent from budget_slice
  where id = any($1::uuid[]) and open and core_id = $2 and epoch = $3 order by id for update`,
);

/** Of dead cores; $1 how many at most. */
const reapBudgetsSql = closing(
  "reap budgets",
  `
  select budget_slice.id, budget_id, window_name, granted, spent from budget_slice
  join core on core.id = budget_slice.core_id and core.epoch = budget_slice.epoch
  where open and core.dead_beat is not distinct from core.beats
  order by budget_slice.id limit $1 for update of budget_slice skip locked for share of core skip locked`,
);

/** $1 slices, $2 amounts, $3 core, $4 epoch. */
const giveBackBudgetsSql: Statement = {
  name: "give back budgets",
  text: `
  with part as (select * from unnest($1::uuid[], $2::bigint[]) as t(slice_id, amount)),
  mine as (
    select id, budget_id, window_name, amount from budget_slice join part on part.slice_id = budget_slice.id
    where open and core_id = $3 and epoch = $4 order by id for update of budget_slice),
  smaller as (update budget_slice set granted = budget_slice.granted - mine.amount from mine where budget_slice.id = mine.id),
  sums as (select budget_id, window_name, sum(amount)::bigint as amount from mine group by 1, 2),
  held as (
    select id, window_name from budget where (id, window_name) in (select budget_id, window_name from sums)
    order by id, window_name for update)
  update budget set leased = budget.leased - sums.amount from sums, held
  where budget.id = sums.budget_id and budget.window_name = sums.window_name
    and held.id = budget.id and held.window_name = budget.window_name`,
};

/** $2 window, $4 the limit. What has not been leased by this limit has to be counted. */
const budgetSpendingSql: Statement = {
  name: "budget spending",
  text: `
  select coalesce(
    (select budget.spent + budget.carried + coalesce((select sum(slice.spent) from budget_slice slice
       where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0)
     from budget where id = $1 and window_name = $2 and bound = $4),
    (select sum(cost) from (${charged}) parts) + coalesce((
      select carried from budget where id = $1 and window_name = $2), 0),
    (select carried from budget where id = $1 and window_name = $2), 0)::text as spent`,
};

interface StoredSliceRow {
  readonly id: string;
  readonly unspent: string;
}

interface BudgetRow {
  readonly bound?: string;
  readonly leased: string;
  readonly spent: string;
  readonly prior?: string;
  /** Rows of this core's epoch. */
  readonly own?: number;
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
    return this.#executor.transaction((query) => this.#lease(query, request));
  }

  /** The transaction has the budget's window for itself. */
  async #lease(
    query: Query,
    { budgetId, accountId, windowName, windowStart, windowEnd, limit, sliceId, isMade, least, most }: BudgetRequest,
  ): Promise<BudgetLease> {
    const { coreId, epoch, cores } = this.#core;
    const window = [budgetId, windowName];
    await query(makeBudget, [...window, accountId]);
    let [row] = await query<BudgetRow>(lockBudget, [...window, coreId, epoch]);
    await this.#core.ensure(query, row?.own ?? 1);
    if (Number(row?.bound) !== limit) {
      [row] = await query<BudgetRow>(recountBudget, [...window, windowStart, limit, windowEnd ?? endless]);
    }
    const free = Math.max(0, limit - Number(row?.leased ?? 0) - Number(row?.spent ?? 0));
    const share = Math.floor(free / (2 * cores));
    const amount = Math.min(free, Math.max(least, Math.min(most, share)));
    const [extended] = isMade
      ? await query(growSlice, [sliceId, coreId, epoch, amount])
      : await query(extendSlice, [sliceId, ...window, coreId, epoch, amount]);
    if (extended !== undefined && amount > 0) {
      await query(lendBudget, [...window, amount]);
    }
    const [others] = await query<{ elsewhere: string }>(elsewhereSql, [...window, sliceId]);
    const granted = extended === undefined ? undefined : amount;
    return { granted, unleased: free - (granted ?? 0), elsewhere: Number(others?.elsewhere ?? 0) };
  }

  async open(range: BudgetSliceRange): Promise<StoredBudgetSlice[]> {
    const mine = [this.#core.coreId, this.#core.epoch];
    const rows = await ("sliceId" in range
      ? this.#executor.query<StoredSliceRow>(ownSlice, [...mine, range.sliceId])
      : this.#executor.query<StoredSliceRow>(slicesAfter, [...mine, range.after, slicePage]));
    return rows.map(({ id, unspent }) => ({ id, unspent: Number(unspent) }));
  }

  async giveBack(parts: readonly SlicePart[]): Promise<void> {
    const [ids, amounts] = [parts.map((part) => part.sliceId), parts.map((part) => part.amount)];
    await this.#executor.query(giveBackBudgetsSql, [ids, amounts, this.#core.coreId, this.#core.epoch]);
  }

  async close(sliceIds: readonly string[]): Promise<void> {
    await this.#executor.query(closeBudgetsSql, [sliceIds, this.#core.coreId, this.#core.epoch]);
  }

  async spending({ budgetId, windowName, windowStart, windowEnd, limit }: SpendingRequest): Promise<BudgetSpending> {
    const values = [budgetId, windowName, windowStart, limit, windowEnd ?? endless];
    const [row] = await this.#executor.query<{ spent: string }>(budgetSpendingSql, values);
    return { spent: Number(row?.spent ?? 0) };
  }

  recount({ budgetId, windowName, windowStart, windowEnd }: BudgetWindowRequest): Promise<boolean> {
    return this.#executor.transaction(async (query) => {
      const [before] = await query<{ bound: string; prior: string }>(lockCounted, [budgetId, windowName]);
      if (before === undefined) {
        return false;
      }
      const values = [budgetId, windowName, windowStart, before.bound, windowEnd ?? endless];
      const [after] = await query<BudgetRow>(recountBudget, values);
      return after?.prior !== before.prior;
    });
  }

  /** Closes slices of cores that are dead. */
  async reap(): Promise<void> {
    await this.#executor.query(reapBudgetsSql, [mostReaped]);
  }
}
