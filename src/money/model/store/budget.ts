import type { PicoUsd } from "../interface.ts";
import type { SmallerSlice, StoredSlice } from "./wallet.ts";

/** An open slice of a budget as the store has it. */
export type StoredBudgetSlice = Pick<StoredSlice, "id" | "granted" | "unspent">;

/**
 * The size that a slice of a budget has from now on. Such a slice also grows, so each size has a step: one that comes
 * after a later one means nothing.
 */
export interface SmallerBudgetSlice extends SmallerSlice {
  readonly step: number;
}

/** Selects open slices of budgets: one slice, or the page after an id in the order of ids. */
export type BudgetSliceRange = { readonly sliceId: string } | { readonly after: string };

/** A request for a part of one window of a key's budget. */
export interface BudgetRequest {
  /** The id of the first key of the budget's chain. */
  readonly budgetId: string;
  readonly accountId: string;
  readonly windowName: string;
  /** Milliseconds since the epoch. The keys' spending since then counts, also from before the limit was set. */
  readonly windowStart: number;
  /** Milliseconds since the epoch. Spending from then on counts in later windows. Undefined: the window never ends. */
  readonly windowEnd: number | undefined;
  readonly limit: PicoUsd;
  /** The slice to make or to extend. The core chooses its id, so that it can close a slice whose reply was lost. */
  readonly sliceId: string;
  /** The slice's size as the core knows it. Whatever it has beyond that goes back: its reply was lost. */
  readonly size: PicoUsd;
  /** As in `SmallerBudgetSlice`. */
  readonly step: number;
  /**
   * True when the store has answered for this slice before. A slice that the store has forgotten since is not made
   * anew.
   */
  readonly isMade: boolean;
  /** The amount needed now. */
  readonly least: PicoUsd;
  /** The amount wanted when the store has plenty. */
  readonly most: PicoUsd;
}

/** The money of a budget's window, and the part of it just leased. */
export interface BudgetLease {
  /**
   * The slice's size from now on. Undefined: another core closed the slice, or a failover forgot it; ask again with
   * another slice id.
   */
  readonly size: PicoUsd | undefined;
  /** Money of the window that no core has leased or spent. */
  readonly unleased: PicoUsd;
  /** Money that other cores have leased and not spent, as far as the store knows. */
  readonly elsewhere: PicoUsd;
}

/** Identifies a window of a budget. */
export type BudgetWindowRequest = Pick<BudgetRequest, "budgetId" | "windowName" | "windowStart" | "windowEnd">;

/** Asks how much the keys of a budget have spent in a window. */
export type SpendingRequest = BudgetWindowRequest & Pick<BudgetRequest, "limit">;

/** The spending in one window of a budget. */
export interface BudgetSpending {
  /** In pico-USD. May be more than a limit can be: keys may have spent it before they got one. */
  readonly spent: bigint;
}

/** What the charges in a window outside of its slices sum up to. */
export interface Recount {
  /** In pico-USD. May be more than a limit can be. */
  readonly outside: bigint;
  /** Whether the window had another sum before. */
  readonly isChanged: boolean;
}

/** Leases parts of budgets, and takes them back. */
export interface BudgetStore {
  /** This core's open slices of budgets, in the order of ids. An empty page: there are no more. */
  openBudgetSlices(range: BudgetSliceRange): Promise<StoredBudgetSlice[]>;
  /** Leases a part of a budget. All cores together never get more than its limit. */
  acquireBudget(request: BudgetRequest): Promise<BudgetLease>;
  /** Makes slices of budgets no larger than these sizes, unless later steps came before. */
  giveBackBudgets(slices: readonly SmallerBudgetSlice[]): Promise<void>;
  /** Ends slices of budgets: their spending stays counted, and the rest can be leased again. */
  closeBudgets(sliceIds: readonly string[]): Promise<void>;
  /** The spending of a budget's keys in a window, as far as the store has it. */
  budgetSpending(window: SpendingRequest): Promise<BudgetSpending>;
  /**
   * Counts anew what a budget's keys were charged in a window outside of its slices, if the window has been leased.
   * Undefined: it was not, and is counted at its next lease.
   */
  recountBudget(window: BudgetWindowRequest): Promise<Recount | undefined>;
}
