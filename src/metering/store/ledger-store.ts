import type { Credit } from "../books/payments/interface.ts";
import type { ChargedTokens, PicoUsd } from "../interface.ts";
import type { Run } from "../ledger/run.ts";
import type { RunFacts } from "../ledger/settlement/interface.ts";
import type { Rates } from "../prices/interface.ts";
import type { VersionMark } from "../prices/version-marks.ts";

/** A core whose heart has not beaten for this long is taken for dead, and its slices are given back. */
export const deadAfterMs = 30_000;

/** A core's heartbeat counter when it was read. */
export interface CoreBeat {
  readonly coreId: string;
  readonly epoch: number;
  /** Counts the beats of this epoch, and says nothing of when they were. */
  readonly beats: number;
}

/** An epoch of this core as the store knows it. */
export interface CoreEpoch extends CoreBeat {
  /** The lock that its process held. Null: not known. */
  readonly instance: string | null;
  /** True when another core has taken it for dead and it has not beaten since. */
  readonly dead: boolean;
}

/** The facts that a process claims when it begins an epoch. */
export interface EpochClaim {
  /** The lock that it holds as long as it runs. Undefined: none, so it takes nothing over from earlier processes. */
  readonly instance: string | undefined;
  /** The last epoch known to the process, even if the store has forgotten it; 0: none. */
  readonly after: number;
}

/** A new epoch. */
export interface Entered {
  readonly epoch: number;
  /** Slices taken over from earlier processes. */
  readonly adopted: readonly LeasedSlice[];
  /** Open slices of budgets taken over from earlier processes. */
  readonly adoptedBudgets: readonly string[];
}

/** The reply to a heartbeat. */
export interface Heartbeat {
  /** The other cores that no core has taken for dead. */
  readonly others: readonly CoreBeat[];
  /**
   * True when this core's slices may be gone: another core took it for dead after its last answered beat, or the store has
   * gone back to before that beat.
   */
  readonly wasDead: boolean;
}

/** Part of a lot that this core may spend without asking. */
export interface LeasedSlice {
  readonly id: string;
  readonly lotId: string;
  readonly accountId: string;
  readonly kind: Credit["kind"];
  readonly priority: number;
  readonly priceVersion: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. Undefined: never. */
  readonly expiresAt: number | undefined;
  readonly granted: PicoUsd;
  readonly spent: PicoUsd;
}

/** An open slice as the store has it. */
export interface StoredSlice {
  readonly id: string;
  readonly accountId: string;
  readonly unspent: PicoUsd;
}

/** An open slice of a budget as the store has it. */
export type StoredBudgetSlice = Pick<StoredSlice, "id" | "unspent">;

/** A part of a slice that goes back. */
export interface SlicePart {
  readonly sliceId: string;
  readonly amount: PicoUsd;
}

/** Selects open slices: all of an account, or a page of whole accounts. */
export type SliceRange =
  | { readonly accountId: string }
  /** The accounts that come after this one in the order of ids; noId: from the first one on. */
  | { readonly after: string };

/** Selects open slices of budgets: one, or the page of those that come after it in the order of ids. */
export type BudgetSliceRange = { readonly sliceId: string } | { readonly after: string };

/** Comes before all accounts and slices in the order of ids. */
export const noId = "00000000-0000-0000-0000-000000000000";

/** About so many slices are a page; all those of its last account belong to it. */
export const slicePage = 1000;

/** Asks for money of an account. */
export interface LeaseRequest {
  readonly accountId: string;
  /** The amount needed now. */
  readonly least: PicoUsd;
  /** The amount wanted when there is plenty. */
  readonly most: PicoUsd;
}

/** An account's money, and the new slices of it. */
export interface Lease {
  readonly createdAt: number;
  readonly paidTotal: bigint;
  /** Unspent paid money, leased or not; of many lots at least that of the first lots. */
  readonly paidLeft: bigint;
  /** New slices, in the order of spending. */
  readonly slices: readonly LeasedSlice[];
  /** Unspent money that no core has leased now; of many lots at least that of the first lots. */
  readonly unleased: bigint;
  /** Unspent money that other cores hold. */
  readonly elsewhere: bigint;
  /** The account's debt in pico-USD. */
  readonly debt: bigint;
  /** The newest price version that the store has. Undefined: it has none. */
  readonly newestPrices: VersionMark | undefined;
}

/** Asks for a part of one window of a key's budget. */
export interface BudgetRequest {
  /** The first key of its chain. */
  readonly budgetId: string;
  readonly accountId: string;
  readonly windowName: string;
  /** Milliseconds since the epoch: the keys' spending since then counts, also from before the limit was set. */
  readonly windowStart: number;
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

/** Asks what the keys of a budget have spent in a window. */
export type SpendingRequest = Pick<BudgetRequest, "budgetId" | "windowName" | "windowStart" | "limit">;

/** The spending in one window of a budget. */
export interface BudgetSpending {
  readonly spent: PicoUsd;
}

/** A tally that was charged to since balances and budgets were last looked at. */
export interface UnseenTally {
  readonly coreId: string;
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly accountId: string;
  /** Empty: a service token. */
  readonly keyId: string;
  readonly model: string;
  /** Requests that it counts. */
  readonly requests: number;
}

/** The part of a charge that one slice pays. */
export interface ChargeLine {
  readonly sliceId: string;
  readonly lotId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The lot's rates, or those of the request's admission where these are lower. */
  readonly inputRate: PicoUsd;
  readonly outputRate: PicoUsd;
  readonly cost: PicoUsd;
}

/** A run of a request, to be charged; becomes its receipt. */
export interface Charge extends Run {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The lines and the shortfall together. */
  readonly cost: PicoUsd;
  /** The part of the cost that no money was left for; becomes the account's debt. */
  readonly shortfall: PicoUsd;
  readonly status: "completed" | "cancelled" | "failed" | "recovered";
  /** Milliseconds since the epoch. */
  readonly settledAt: number;
  /** The terms of its admission: no token of it costs more. Absent: an earlier version of the program admitted it. */
  readonly maxRates?: Rates;
  /** The tokens that it was admitted with. Absent: not known, as after a crash. */
  readonly admitted?: ChargedTokens;
  /** Further facts about the run. Absent: none are known. */
  readonly facts?: RunFacts;
  /** The slice of its key's budget that the cost counts in, of the window of its admission. Absent: there was no budget. */
  readonly budgetSliceId?: string;
  /** In the order of spending. */
  readonly lines: readonly ChargeLine[];
}

/** A stored charge, as far as it says what was charged. */
export type StoredCharge = Pick<Charge, "inputTokens" | "outputTokens" | "status">;

/**
 * The outcome of a charge. repeated: the run was charged before, so nothing was done.
 * fenced: a slice of it is no longer this core's, so nothing was done.
 */
export type SettleOutcome = "stored" | "repeated" | "fenced";

/**
 * The statements that must be fast and atomic. Locks are always taken in this order, and by id
 * within a table, so that cores cannot deadlock: slice, account, lot.
 */
export interface LedgerStore {
  /** True when other cores may hold slices too. */
  readonly shared: boolean;
  /** Names the database, however it is reached, moved or restored. */
  identify(): Promise<string>;
  /** The epochs of this core so far, the newest first. None where no other process can have the store. */
  epochs(): Promise<CoreEpoch[]>;
  /**
   * Begins a new epoch of this core. Takes over the open slices of earlier epochs under the same lock, whose processes
   * are surely dead; slices of any other epoch stay with it until it is taken for dead.
   */
  enter(claim: EpochClaim): Promise<Entered>;
  /** Keeps the slices of this epoch its own. */
  heartbeat(): Promise<Heartbeat>;
  /** The open slices that are this core's, in the order of accounts. An empty page: there are no more. */
  openSlices(range: SliceRange): Promise<StoredSlice[]>;
  /** Leases money, at once for several accounts. An unknown account is not in the answer. */
  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>>;
  /** Stores charges durably, each run at most once. Outcomes are in the order of the charges. */
  settle(charges: readonly Charge[]): Promise<SettleOutcome[]>;
  /** True when an error of settle means that a charge can never be stored, rather than not now. */
  isViolation(error: unknown): boolean;
  /** The stored charges of the runs, by runKey; runs that were not charged are absent. */
  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>>;
  /** True when any run of an account's request was charged. */
  isCharged(accountId: string, requestId: string): Promise<boolean>;
  /** Makes slices smaller by the amounts; the money is the lot's again. */
  giveBack(parts: readonly SlicePart[]): Promise<void>;
  /** Ends slices: what they spent is the lot's expense, the rest is the lot's again. */
  close(sliceIds: readonly string[]): Promise<void>;
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
  /** Tallies of charges that were not looked at yet, the oldest hours first. */
  unseenTallies(limit: number): Promise<UnseenTally[]>;
  /** Notes that tallies were looked at, but for those that were charged to since they were read. */
  markSeen(tallies: readonly UnseenTally[]): Promise<void>;
  /**
   * Folds tallies of the hours before one (whole hours since 1970) into rollups, some at a time. Those that were not
   * looked at stay for a day. Returns how many.
   */
  foldTallies(before: number): Promise<number>;
  /**
   * Takes cores for dead whose hearts are still where they were, and ends slices of all that are dead, at most 1,000.
   * Returns how many.
   */
  reap(dead: readonly CoreBeat[]): Promise<number>;
  /** Tells the other cores that an account's money or keys have changed, or that its money is wanted here. */
  announce(accountId: string): Promise<void>;
  /**
   * Calls back whenever another core announces something; each function once. Called again, it mends a connection
   * that was lost.
   */
  listen(heard: (accountId: string) => void): Promise<void>;
  /** Frees the resources that the store itself has opened. */
  end(): Promise<void>;
}
