import type { PicoUsd } from "../../interface.ts";
import type { SlicePart, StoredSlice } from "../wallet/wallet-store.ts";

/** An open slice of a budget as the store has it. */
export type StoredBudgetSlice = Pick<StoredSlice, "id" | "unspent">;

/** Selects open slices of budgets: one, or the page of those that come after it in the order of ids. */
export type BudgetSliceRange = { readonly sliceId: string } | { readonly after: string };

/** Asks for a part of one window of a key's budget. */
export interface BudgetRequest {
  /** The first key of its chain. */
  readonly budgetId: string;
  readonly accountId: string;
  readonly windowName: string;
  /** Milliseconds since the epoch: the keys' spending since then counts, also from before the limit was set. */
  readonly windowStart: number;
  /** Milliseconds since the epoch: spending from then on counts in later windows. Undefined: the window never ends. */
  readonly windowEnd: number | undefined;
  readonly limit: PicoUsd;
  /** The slice to make or to extend. The core names it, so that it can close a slice whose reply was lost. */
  readonly sliceId: string;
  /** True when the store has answered for this slice before: one that it has forgotten since is not made anew. */
  readonly isMade: boolean;
  /** The amount needed now. */
  readonly least: PicoUsd;
  /** The amount wanted when there is plenty. */
  readonly most: PicoUsd;
}

/** A budget window's money, and the part of it that was leased just now. */
export interface BudgetLease {
  /** Undefined: the slice was closed by others, or forgotten by a failover; ask again under another name. */
  readonly granted: PicoUsd | undefined;
  /** Money of the window that no core has leased or spent. */
  readonly unleased: PicoUsd;
  /** Money that other cores have leased and not spent, as far as the store knows. */
  readonly elsewhere: PicoUsd;
}

/** Names a window of a budget. */
export type BudgetWindowRequest = Pick<BudgetRequest, "budgetId" | "windowName" | "windowStart" | "windowEnd">;

/** Asks what the keys of a budget have spent in a window. */
export type SpendingRequest = BudgetWindowRequest & Pick<BudgetRequest, "limit">;

/** The spending in one window of a budget. */
export interface BudgetSpending {
  readonly spent: PicoUsd;
}

/** Leases parts of budgets, and takes them back. */
export interface BudgetStore {
  /** The open slices of budgets that are this core's, in the order of ids. An empty page: there are no more. */
  openBudgetSlices(range: BudgetSliceRange): Promise<StoredBudgetSlice[]>;
  /** Leases a part of a budget. Never more than its limit, whoever asks. */
  acquireBudget(request: BudgetRequest): Promise<BudgetLease>;
  /** Makes slices of budgets smaller by the amounts. */
  giveBackBudgets(parts: readonly SlicePart[]): Promise<void>;
  /** Ends slices of budgets: what they spent is spent, the rest can be leased again. */
  closeBudgets(sliceIds: readonly string[]): Promise<void>;
  /** The spending of a budget's keys in a window, as far as the store has it. */
  budgetSpending(window: SpendingRequest): Promise<BudgetSpending>;
  /**
   * Counts anew what a budget's keys were charged in a window outside of its slices, if it has been leased by the limit that it
   * has. Returns whether that has changed.
   */
  recountBudget(window: BudgetWindowRequest): Promise<boolean>;
}
