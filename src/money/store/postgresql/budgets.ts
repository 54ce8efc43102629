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
import {
  budgetSpendingSql,
  closeBudgetsSql,
  elsewhereSql,
  endless,
  extendSlice,
  giveBackBudgetsSql,
  growSlice,
  lendBudget,
  lockBudget,
  lockCounted,
  makeBudget,
  ownSlice,
  reapBudgetsSql,
  recountBudget,
  slicesAfter,
} from "./budget-statements.ts";
import type { Epochs } from "./epochs.ts";
import type { Executor, Query } from "./executor.ts";

/** Slices of budgets taken from dead cores at once. */
const mostReaped = 1000;

interface StoredSliceRow {
  readonly id: string;
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

  /** The transaction locks the budget's window. */
  async #lease(
    query: Query,
    { budgetId, accountId, windowName, windowStart, windowEnd, limit, sliceId, isMade, least, most }: BudgetRequest,
  ): Promise<BudgetLease> {
    const { coreId, epoch, cores } = this.#core;
    const window = [budgetId, windowName];
    await query(makeBudget, [...window, accountId]);
    let [row] = await query<BudgetRow>(lockBudget, [...window, coreId, epoch]);
    await this.#core.ensure(query, row?.own ?? 1);
    if (Number(row?.leased_under) !== limit) {
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
      const [before] = await query<{ leased_under: string; spent_outside_slices: string }>(lockCounted, [
        budgetId,
        windowName,
      ]);
      if (before === undefined) {
        return false;
      }
      const values = [budgetId, windowName, windowStart, before.leased_under, windowEnd ?? endless];
      const [after] = await query<BudgetRow>(recountBudget, values);
      return after?.spent_outside_slices !== before.spent_outside_slices;
    });
  }

  /** Closes slices of dead cores. */
  async reap(): Promise<void> {
    await this.#executor.query(reapBudgetsSql, [mostReaped]);
  }
}
