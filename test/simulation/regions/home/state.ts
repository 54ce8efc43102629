import type { Counters, LotFacts, Revocation, Statement } from "../protocol.ts";

/** One region's part of a lot in one epoch, as the home shard has it. */
export interface HomeSlice extends Counters {
  readonly region: string;
  readonly epoch: number;
  readonly lotId: string;
  /** What the region has confirmed of `granted`. */
  confirmed: number;
  /** Ended: nothing more is granted of it, and what is not spent was freed. */
  isClosed: boolean;
}

/** A lot with its slices. */
export interface HomeLot {
  readonly facts: LotFacts;
  /** What may be lent and spent at most: less after a refund, other after a limit was changed. */
  amount: number;
  /** Granted and not returned, over all slices. */
  lent: number;
  /** By region and epoch. */
  readonly slices: Map<string, HomeSlice>;
  /** Shares of a limit a minute that came back, and when: they count as used for a minute. */
  cooling: { readonly until: number; readonly amount: number }[];
}

/** An epoch that is over, and the store that had it, or was to have it: that one alone can say what became of it. */
export interface Unsettled {
  readonly epoch: number;
  readonly store: string;
}

/** A region as the home shard knows it. */
export interface HomeRegion {
  readonly name: string;
  epoch: number;
  /** The store that has this epoch. Empty: none yet. */
  store: string;
  /** Its term and the margin are over: what it has is in quarantine. */
  isSilent: boolean;
  /** Earlier epochs whose store was lost, until it is known what was spent of them. */
  unsettled: Unsettled[];
}

/** All that the home shard keeps on its disks. */
export interface HomeState {
  generation: number;
  readonly lots: Map<string, HomeLot>;
  /** The lots of each purse in the order of spending. */
  readonly purses: Map<string, HomeLot[]>;
  readonly regions: Map<string, HomeRegion>;
  /** After a failover that may have lost grants: regions that have not yet told all they have. Nothing is lent meanwhile. */
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

/** Names a region's slice of a lot. */
export const sliceKey = (region: string, epoch: number) => `${region}/${epoch}`;
