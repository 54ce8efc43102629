import type { Counters, LotFacts } from "../protocol.ts";

/** A slice of a lot as the region stores it, as a lot of its own. */
export interface BankSlice extends Counters {
  readonly lot: LotFacts;
  readonly epoch: number;
  /** The number of the exchange that reports its newest change. */
  changedIn: number;
}

/** A request's cost, by slices. Its key is the request's id. */
export interface Receipt {
  readonly requestId: string;
  readonly cost: number;
  readonly lines: readonly { readonly lotId: string; readonly epoch: number; readonly cost: number }[];
  /** What no slice could pay. */
  readonly shortfall: number;
}

/** A running request in the journal: enough to charge it after a crash. */
export interface JournalEntry {
  readonly requestId: string;
  readonly purses: readonly string[];
  /** The cost so far, as last noted. */
  cost: number;
}

/**
 * What a region keeps on its disks. Models its PostgreSQL and its cores' journals: each change is atomic and durable.
 */
export class RegionStore {
  readonly id: string;
  epoch = 0;
  readonly slices = new Map<string, BankSlice>();
  readonly receipts = new Map<string, Receipt>();
  readonly journal = new Map<string, JournalEntry>();
  readonly revoked = new Set<string>();
  /** Set by the reader of an epoch's final state: nothing of these epochs is spent any more. */
  fencedUpTo = 0;
  statements = 0;
  /** How often a bank has started on it. */
  starts = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Ends an epoch for good and returns its slices. Unspent money is returned in the same step. */
  fence(epoch: number): BankSlice[] {
    this.fencedUpTo = Math.max(this.fencedUpTo, epoch);
    const ended = [...this.slices.values()].filter((slice) => slice.epoch <= epoch);
    for (const slice of ended) {
      slice.returned = slice.granted - slice.spent;
    }
    return ended;
  }
}
