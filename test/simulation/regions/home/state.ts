import type { Counters, LotFacts, Revocation, Statement } from "../protocol.ts";

/** One region's part of a lot in one epoch, as the home shard knows it. */
export interface HomeSlice extends Counters {
  readonly region: string;
  readonly epoch: number;
  readonly lotId: string;
  /** The part of `granted` that the region has confirmed. */
  confirmed: number;
  /** Whether it is ended: nothing more is granted, and unspent money was freed. */
  isClosed: boolean;
}

/** A lot with its slices. */
export interface HomeLot {
  readonly facts: LotFacts;
  /** The most that may be lent and spent. Less after a refund; changed with a limit. */
  amount: number;
  /** What was granted and not returned, over all slices. */
  lent: number;
  /** By region and epoch. */
  readonly slices: Map<string, HomeSlice>;
  /** Returned shares of a per-minute limit, and until when: they count as used for a minute. */
  cooling: { readonly until: number; readonly amount: number }[];
}

/** An epoch that is over, and its store, which alone knows the epoch's final state. */
export interface Unsettled {
  readonly epoch: number;
  readonly store: string;
}

/** A region as the home shard knows it. */
export interface HomeRegion {
  readonly name: string;
  epoch: number;
  /** The store of this epoch. Empty: none yet. */
  store: string;
  /** Whether its term and margin are over: its money is in quarantine. */
  isSilent: boolean;
  /** Earlier epochs whose store was lost, until their spending is known. */
  unsettled: Unsettled[];
}

/** All that the home shard keeps on its disks. */
export interface HomeState {
  generation: number;
  readonly lots: Map<string, HomeLot>;
  /** The lots of each purse in spending order. */
  readonly purses: Map<string, HomeLot[]>;
  readonly regions: Map<string, HomeRegion>;
  /**
   * After a failover that may have lost grants: regions that have not reported everything. Meanwhile nothing is lent.
   */
  readonly unheard: Set<string>;
  readonly revocations: Revocation[];
  /** The newest statement of each region and epoch. */
  readonly statements: Map<string, Statement>;
}

export function emptyState(regions: readonly string[]): HomeState {
  return {
    generation: 1,
    lots: new Map(),
    purses: new Map(),
    regions: new Map(regions.map((name) => [name, { name, epoch: 0, store: "", isSilent: true, unsettled: [] }])),
    unheard: new Set(),
    revocations: [],
    statements: new Map(),
  };
}

/** The key of a region's slice of a lot. */
export const sliceKey = (region: string, epoch: number) => `${region}/${epoch}`;
