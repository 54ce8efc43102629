import type { Counters, LotFacts } from "../protocol.ts";

/** A slice of a lot as the region keeps it: its own lot. */
export interface BankSlice extends Counters {
  readonly lot: LotFacts;
  readonly epoch: number;
  /** The number of the exchange that tells its newest change. */
  changedIn: number;
}

/** What a request cost, by slices. Its key is the request's. */
export interface Receipt {
  readonly requestId: string;
  readonly cost: number;
  readonly lines: readonly { readonly lotId: string; readonly epoch: number; readonly cost: number }[];
  /** What no slice was left to pay. */
  readonly shortfall: number;
}

/** A request that runs, as the journal has it: enough to charge it after a crash. */
export interface JournalEntry {
  readonly requestId: string;
  readonly purses: readonly string[];
  /** The cost so far, as last noted. */
  cost: number;
}

/** What a region keeps on its disks. A model of its PostgreSQL and of its cores' journals: each change is whole and durable. */
export class RegionStore {
  readonly id: string;
  epoch = 0;
  readonly slices = new Map<string, BankSlice>();
  readonly receipts = new Map<string, Receipt>();
  readonly journal = new Map<string, JournalEntry>();
  readonly revoked = new Set<string>();
  /** Set by whoever reads the last word of an epoch here: nothing is spent of it any more. */
  fencedUpTo = 0;
  statements = 0;
  /** How often a bank has begun on it. */
  starts = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Ends an epoch for good and returns what became of it: what is not spent is returned in the same step. */
  fence(epoch: number): BankSlice[] {
    this.fencedUpTo = Math.max(this.fencedUpTo, epoch);
    const ended = [...this.slices.values()].filter((slice) => slice.epoch <= epoch);
    for (const slice of ended) {
      slice.returned = slice.granted - slice.spent;
    }
    return ended;
  }
}
