import type { PicoUsd } from "../interface.ts";
import type { LockedPrices } from "../prices/own-prices.ts";
import type { VersionMark } from "../prices/version-marks.ts";
import type { LotKind } from "../spending-order.ts";

/** A part of a lot that this core may spend without asking. */
export interface LeasedSlice extends LockedPrices {
  readonly id: string;
  readonly lotId: string;
  readonly accountId: string;
  readonly kind: LotKind;
  readonly priority: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. Undefined: it never expires. */
  readonly expiresAt: number | undefined;
  readonly granted: PicoUsd;
  readonly spent: PicoUsd;
}

/** An open slice as the store has it. */
export interface StoredSlice {
  readonly id: string;
  readonly accountId: string;
  readonly granted: PicoUsd;
  readonly unspent: PicoUsd;
}

/** The size that a slice has from now on. It says what is, so that it may come late, never or twice. */
export interface SmallerSlice {
  readonly sliceId: string;
  readonly granted: PicoUsd;
}

/** Selects open slices: all of an account, or a page of whole accounts. */
export type SliceRange =
  | { readonly accountId: string }
  /** The accounts after this one in the order of ids. noId: from the first one on. */
  | { readonly after: string };

/** Comes before all accounts and slices in the order of ids. */
export const noId = "00000000-0000-0000-0000-000000000000";

/** About how many slices a page has. All slices of its last account belong to it. */
export const slicePage = 1000;

/** A request for money of an account. */
export interface LeaseRequest {
  readonly accountId: string;
  /** The amount needed now. */
  readonly least: PicoUsd;
  /** The amount wanted when the store has plenty. */
  readonly most: PicoUsd;
}

/** An account's money, and its new slices. */
export interface Lease {
  readonly createdAt: number;
  readonly paidTotal: bigint;
  /** Unspent paid money and what is left of the credit line, leased or not. For many lots: at least that of the first lots. */
  readonly paidLeft: bigint;
  /** New slices, in the order of spending. */
  readonly slices: readonly LeasedSlice[];
  /** Unspent money that no core has leased now. For many lots: at least that of the first lots. */
  readonly unleased: bigint;
  /** Unspent money that other cores hold. */
  readonly elsewhere: bigint;
  /** The account's debt in pico-USD. */
  readonly debt: bigint;
  /** Credit lots that this core has slices of and that the line has called back: no new request spends them. */
  readonly retired: readonly string[];
  /** The newest price version in the store. Undefined: there is none. */
  readonly newestPrices: VersionMark | undefined;
}

/** Leases money of lots, and takes it back. */
export interface WalletStore {
  /** This core's open slices, in the order of accounts. An empty page: there are no more. */
  openSlices(range: SliceRange): Promise<StoredSlice[]>;
  /** Leases money for several accounts at once. Unknown accounts are absent from the result. */
  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>>;
  /** Makes slices no larger than these sizes; the rest goes back to the lot. */
  giveBack(slices: readonly SmallerSlice[]): Promise<void>;
  /** Ends slices: their spent money counts as spent of the lot, and the rest goes back to it. */
  close(sliceIds: readonly string[]): Promise<void>;
}
