import { dayMs, hourMs } from "#lib/time/days.ts";
import type { Charge } from "../../../model/charges/charge.ts";
import type { PicoUsd } from "../../../model/interface.ts";
import type {
  BudgetLease,
  BudgetRequest,
  BudgetSliceRange,
  BudgetSpending,
  BudgetWindowRequest,
  Recount,
  SmallerBudgetSlice,
  SpendingRequest,
  StoredBudgetSlice,
} from "../../../model/store/budget.ts";
import { slicePage } from "../../../model/store/wallet.ts";
import { budgetKeys, chargedWithin } from "../../rollups.ts";
import type { Epochs } from "../epochs.ts";
import type { Executor, Runner } from "../executor.ts";

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

/**
 * ?2 the window's name, ?7 the limit. Counts anew what the keys were charged in the window outside of its slices. That
 * may be more than 2^53 - 1, the largest integer that a number holds exactly, so sums stay in SQL or leave it as texts.
 */
const recount = `
  update budget set leased_under = ?7, spent = spent - spent_outside_slices + counted.cost,
    spent_outside_slices = counted.cost
  from (
    select max(0, coalesce(sum(cost), 0) - coalesce((
      select sum(spent) from budget_slice where budget_id = ?1 and window_name = ?2), 0)) as cost
    from (${charged})) counted
  where id = ?1 and window_name = ?2 returning cast(spent_outside_slices as text) as outside`;

const lockBudget = `
  select leased_under, leased, cast(spent as text) as spent from budget where id = ? and window_name = ?`;

/** ?7 the limit. A window that was not leased under this limit has to be counted. */
const spending = `
  select cast(coalesce(
    (select spent + coalesce((select sum(slice.spent) from budget_slice slice
       where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0)
     from budget where id = ?1 and window_name = ?2 and leased_under = ?7),
    (select sum(cost) from (${charged})), 0) as text) as spent`;

/** The start and the end of a window in days and in hours. */
const toSlots = ({ windowStart, windowEnd = endless }: BudgetWindowRequest) =>
  [dayMs, hourMs].flatMap((slotMs) => [Math.floor(windowStart / slotMs), Math.floor(windowEnd / slotMs)]);

const countedRow = `
  select leased_under as leasedUnder, cast(spent_outside_slices as text) as outside from budget
  where id = ? and window_name = ? and leased_under <> 0`;

/** ?1 slice, ?2 epoch, ?3 the step. */
const ownSlice = `
  select granted, budget_id as budgetId, window_name as windowName from budget_slice
  where id = ?1 and open and epoch = ?2 and step < ?3`;

const makeSlice = `
  insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open, step)
  values (?, ?, ?, ?, ?, ?, 0, true, ?) on conflict do nothing`;

const resizeSlice = "update budget_slice set granted = ?, step = ? where id = ?";
const lend = "update budget set leased = leased + ? where id = ? and window_name = ?";

const ownSlices = `
  select id, granted, granted - spent as unspent from budget_slice where open and core_id = ? and epoch = ?`;

/** ?3 the slice. */
const returnToBudget = `
  update budget set leased = leased - slice.granted, spent = budget.spent + slice.spent
  from (select granted, spent from budget_slice where id = ?3) slice
  where budget.id = ?1 and budget.window_name = ?2`;

interface OwnSlice {
  readonly granted: PicoUsd;
  readonly budgetId: string;
  readonly windowName: string;
}

interface BudgetRow {
  readonly leased_under: PicoUsd;
  readonly leased: PicoUsd;
  readonly spent: string;
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
    const { budgetId, accountId, windowName, limit, sliceId, size, step, isMade, least, most } = request;
    const { coreId, epoch } = this.#core;
    const window = [budgetId, windowName];
    run.run(
      `insert into budget (id, window_name, account_id, leased_under, spent_outside_slices, leased, spent) values (?, ?, ?, 0, 0, 0, 0)
       on conflict do nothing`,
      [...window, accountId],
    );
    const read = () => run.get<BudgetRow>(lockBudget, window) as BudgetRow;
    let row = read();
    if (row.leased_under !== limit) {
      countOutsideSlices(run, request, limit);
      row = read();
    }
    const own = run.get<OwnSlice>(ownSlice, [sliceId, epoch, step]);
    const before = own?.granted ?? 0;
    const known = Math.min(before, size);
    const leased = BigInt(row.leased) - BigInt(before) + BigInt(known);
    const free = Number(max(0n, BigInt(limit) - leased - BigInt(row.spent)));
    const amount = Math.min(free, Math.max(least, most));
    const isThere =
      own !== undefined || (!isMade && run.run(makeSlice, [sliceId, ...window, coreId, epoch, 0, step]) > 0);
    if (!isThere) {
      return { size: undefined, unleased: free, elsewhere: 0 };
    }
    run.run(resizeSlice, [known + amount, step, sliceId]);
    run.run(lend, [known + amount - before, ...window]);
    return { size: known + amount, unleased: free - amount, elsewhere: 0 };
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

  giveBack(slices: readonly SmallerBudgetSlice[]): Promise<void> {
    return this.#executor.transaction((run) => {
      for (const { sliceId, granted, step } of slices) {
        const slice = run.get<OwnSlice>(ownSlice, [sliceId, this.#core.epoch, step]);
        if (slice !== undefined) {
          const size = Math.min(slice.granted, granted);
          run.run(resizeSlice, [size, step, sliceId]);
          run.run(lend, [size - slice.granted, slice.budgetId, slice.windowName]);
        }
      }
    });
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#executor.transaction((run) => {
      for (const id of sliceIds) {
        const slice = run.get<{ budgetId: string; windowName: string }>(
          `update budget_slice set open = false where id = ? and open and epoch = ?
           returning budget_id as budgetId, window_name as windowName`,
          [id, this.#core.epoch],
        );
        if (slice !== undefined) {
          run.run(returnToBudget, [slice.budgetId, slice.windowName, id]);
        }
      }
    });
  }

  spending(request: SpendingRequest): Promise<BudgetSpending> {
    const { budgetId, windowName, limit } = request;
    const values = [budgetId, windowName, ...toSlots(request), limit];
    return this.#executor.plain(({ get }) => ({ spent: BigInt(get<{ spent: string }>(spending, values)?.spent ?? 0) }));
  }

  recount(request: BudgetWindowRequest): Promise<Recount | undefined> {
    return this.#executor.transaction((run) => {
      const { budgetId, windowName } = request;
      const before = run.get<{ leasedUnder: PicoUsd; outside: string }>(countedRow, [budgetId, windowName]);
      if (before === undefined) {
        return undefined;
      }
      const outside = countOutsideSlices(run, request, before.leasedUnder) ?? "0";
      return { outside: BigInt(outside), isChanged: outside !== before.outside };
    });
  }
}

/**
 * Counts anew what the keys of a budget were charged outside of its slices. Returns that sum. Call it in a transaction.
 */
function countOutsideSlices(run: Runner, request: BudgetWindowRequest, limit: PicoUsd): string | undefined {
  const values = [request.budgetId, request.windowName, ...toSlots(request), limit];
  return run.get<{ outside: string }>(recount, values)?.outside;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/**
 * Counts the cost of stored charges in their budgets, whether or not their slices are still open. Call it in a
 * transaction. Returns the slices that do not exist, because an older state of the database was restored: nothing
 * counts in them.
 */
export function spendBudgets(run: Runner, charges: readonly Charge[]): ReadonlySet<string> {
  const forgotten = new Set<string>();
  const costs = new Map<string, bigint>();
  for (const { budgetSliceId, cost } of charges) {
    if (budgetSliceId !== undefined) {
      costs.set(budgetSliceId, (costs.get(budgetSliceId) ?? 0n) + BigInt(cost));
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
