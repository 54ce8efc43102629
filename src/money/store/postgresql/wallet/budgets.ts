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
import type { Epochs } from "../epochs.ts";
import type { Executor, Query } from "../executor.ts";
import {
  budgetSpendingSql,
  closeBudgetsSql,
  elsewhereSql,
  endless,
  giveBackBudgetsSql,
  lendBudget,
  lockBudget,
  lockCounted,
  lockSlice,
  makeBudget,
  makeSlice,
  ownSlice,
  reapBudgetsSql,
  recountBudget,
  resizeSlice,
  slicesAfter,
} from "./budget-statements.ts";

/** Slices of budgets taken from dead cores at once. */
const mostReaped = 1000;

interface StoredSliceRow {
  readonly id: string;
  readonly granted: string;
  readonly unspent: string;
}

interface BudgetRow {
  readonly leased_under?: string;
  readonly leased: string;
  readonly spent: string;
  readonly spent_outside_slices?: string;
  /** The number of rows of this core's epoch. */
  readonly own?: number;
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
    return this.#executor.transaction((query) => this.#lease(query, request));
  }

  /** Locks the slice, then the budget's window, as everything that moves a budget does. */
  async #lease(query: Query, request: BudgetRequest): Promise<BudgetLease> {
    const { budgetId, accountId, windowName, windowStart, windowEnd, limit, sliceId, isMade, least, most } = request;
    const { coreId, epoch, cores } = this.#core;
    const window = [budgetId, windowName];
    const [own] = await query<{ granted: string }>(lockSlice, [sliceId, coreId, epoch, request.step]);
    await query(makeBudget, [...window, accountId]);
    let [row] = await query<BudgetRow>(lockBudget, [...window, coreId, epoch]);
    await this.#core.ensure(query, row?.own ?? 1);
    if (Number(row?.leased_under) !== limit) {
      [row] = await query<BudgetRow>(recountBudget, [...window, windowStart, limit, windowEnd ?? endless]);
    }
    const before = Number(own?.granted ?? 0);
    const known = Math.min(before, request.size);
    const free = Math.max(0, limit - (Number(row?.leased ?? 0) - before + known) - Number(row?.spent ?? 0));
    const share = Math.floor(free / (2 * cores));
    const amount = Math.min(free, Math.max(least, Math.min(most, share)));
    const size = known + amount;
    const [there] =
      own !== undefined
        ? await query(resizeSlice, [sliceId, size, request.step])
        : isMade
          ? []
          : await query(makeSlice, [sliceId, ...window, coreId, epoch, size, request.step]);
    if (there !== undefined && size !== before) {
      await query(lendBudget, [...window, size - before]);
    }
    const [others] = await query<{ elsewhere: string }>(elsewhereSql, [...window, sliceId]);
    const elsewhere = Number(others?.elsewhere ?? 0);
    return there === undefined
      ? { size: undefined, unleased: free, elsewhere }
      : { size, unleased: free - amount, elsewhere };
  }

  async open(range: BudgetSliceRange): Promise<StoredBudgetSlice[]> {
    const mine = [this.#core.coreId, this.#core.epoch];
    const rows = await ("sliceId" in range
      ? this.#executor.query<StoredSliceRow>(ownSlice, [...mine, range.sliceId])
      : this.#executor.query<StoredSliceRow>(slicesAfter, [...mine, range.after, slicePage]));
    return rows.map(({ id, granted, unspent }) => ({ id, granted: Number(granted), unspent: Number(unspent) }));
  }

  async giveBack(slices: readonly SmallerBudgetSlice[]): Promise<void> {
    const column = <Name extends keyof SmallerBudgetSlice>(name: Name) => slices.map((slice) => slice[name]);
    const values = [column("sliceId"), column("granted"), column("step"), this.#core.coreId, this.#core.epoch];
    await this.#executor.query(giveBackBudgetsSql, values);
  }

  async close(sliceIds: readonly string[]): Promise<void> {
    await this.#executor.query(closeBudgetsSql, [sliceIds, this.#core.coreId, this.#core.epoch]);
  }

  async spending({ budgetId, windowName, windowStart, windowEnd, limit }: SpendingRequest): Promise<BudgetSpending> {
    const values = [budgetId, windowName, windowStart, limit, windowEnd ?? endless];
    const [row] = await this.#executor.query<{ spent: string }>(budgetSpendingSql, values);
    return { spent: BigInt(row?.spent ?? 0) };
  }

  recount({ budgetId, windowName, windowStart, windowEnd }: BudgetWindowRequest): Promise<Recount | undefined> {
    return this.#executor.transaction(async (query) => {
      const [before] = await query<{ leased_under: string; spent_outside_slices: string }>(lockCounted, [
        budgetId,
        windowName,
      ]);
      if (before === undefined) {
        return undefined;
      }
      const values = [budgetId, windowName, windowStart, before.leased_under, windowEnd ?? endless];
      const [after] = await query<BudgetRow>(recountBudget, values);
      const outside = BigInt(after?.spent_outside_slices ?? 0);
      return { outside, isChanged: outside !== BigInt(before.spent_outside_slices) };
    });
  }

  /** Closes slices of dead cores. */
  async reap(): Promise<void> {
    await this.#executor.query(reapBudgetsSql, [mostReaped]);
  }
}
