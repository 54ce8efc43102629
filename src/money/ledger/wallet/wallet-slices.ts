import type { ChargeLine } from "../../model/charges/charge.ts";
import type { PicoUsd } from "../../model/interface.ts";
import { bySpending } from "../../model/spending-order.ts";
import type { LeasedSlice, SmallerSlice } from "../../model/store/wallet.ts";
import { invariant } from "../invariant.ts";

/** When there are more slices than this, all but the first ones go back: a core need not hold a thousand lots. */
const mostSlices = 16;
const keptSlices = 8;

/** A slice while this core spends it. */
export interface OpenSlice extends LeasedSlice {
  /** Also when its lot was called back. */
  expiresAt: number | undefined;
  /** Its size: less than at first once some of it was given back. */
  granted: PicoUsd;
  /** Money neither spent nor given back. */
  available: PicoUsd;
  /**
   * The number of its charges that the store is not known to have. Until it has them, the slice must stay open there.
   */
  uncommitted: number;
  /** The cost of those charges. */
  uncommittedCost: PicoUsd;
}

/** A slice that money was taken out of, and how much. */
export interface TakenPart extends SmallerSlice {
  readonly amount: PicoUsd;
}

/** The open slices of one account, in the order of spending, and used-up slices until their charges are stored. */
export class WalletSlices {
  #open: OpenSlice[] = [];
  #drained: OpenSlice[] = [];
  #available: PicoUsd = 0;

  /** Unspent money in open slices. */
  get available(): PicoUsd {
    return this.#available;
  }

  /** The slices with money, in the order of spending. */
  get open(): readonly OpenSlice[] {
    return this.#open;
  }

  /** All slices, including used-up ones. */
  get all(): readonly OpenSlice[] {
    return this.#drained.length === 0 ? this.#open : [...this.#open, ...this.#drained];
  }

  /** The slices beyond the first ones, when there are too many. */
  get surplus(): ReadonlySet<LeasedSlice> {
    return new Set(this.#open.length <= mostSlices ? [] : this.#open.slice(keptSlices));
  }

  /** The cost of charges of chosen slices that the store is not known to have. */
  uncommittedOf(choose: (slice: LeasedSlice) => boolean): PicoUsd {
    return this.all.filter(choose).reduce((sum, slice) => sum + slice.uncommittedCost, 0);
  }

  /** Whether money here is of an expired lot. */
  haveExpired(now: number): boolean {
    return this.#open.some((slice) => isExpired(slice, now));
  }

  add(slices: readonly LeasedSlice[]): void {
    for (const slice of slices) {
      const available = slice.granted - slice.spent;
      this.#open.push({ ...slice, available, uncommitted: 0, uncommittedCost: 0 });
      this.#available += available;
    }
    this.#open.sort(byTurn);
    this.#check();
  }

  /** Lets slices of lots that were called back expire, by any clock: running requests finish with them. */
  retire(lotIds: readonly string[]): void {
    for (const slice of this.#open) {
      slice.expiresAt = lotIds.includes(slice.lotId) ? 0 : slice.expiresAt;
    }
  }

  /** Takes the cost of a charge out of a slice. `committed` or `revert` must follow. */
  spend(slice: OpenSlice, cost: PicoUsd): void {
    slice.available -= cost;
    slice.uncommitted++;
    slice.uncommittedCost += cost;
    this.#available -= cost;
  }

  /** Puts used-up slices aside. Call it after money was taken out. Returns whether there were any. */
  settleDown(): boolean {
    this.#check();
    if (!this.#open.some((slice) => slice.available === 0)) {
      return false;
    }
    this.#drained.push(...this.#open.filter((slice) => slice.available === 0));
    this.#open = this.#open.filter((slice) => slice.available > 0);
    return true;
  }

  /** Notes that the store has a line of a charge. Undefined: the slice is not here any more. */
  committed(line: ChargeLine): OpenSlice | undefined {
    const slice = this.#find(line.sliceId);
    if (slice !== undefined) {
      slice.uncommitted--;
      slice.uncommittedCost -= line.cost;
      invariant(slice.uncommitted >= 0 && slice.uncommittedCost >= 0, "a charge is stored once");
    }
    return slice;
  }

  /** Takes back a line that the store did not accept. Undefined: the slice is not here any more. */
  revert(line: ChargeLine): OpenSlice | undefined {
    const slice = this.committed(line);
    if (slice === undefined) {
      return undefined;
    }
    if (slice.available === 0 && !this.#open.includes(slice)) {
      this.#drained = this.#drained.filter((other) => other !== slice);
      this.#open.push(slice);
      this.#open.sort(byTurn);
    }
    slice.available += line.cost;
    this.#available += line.cost;
    this.#check();
    return slice;
  }

  /** Lowers slices of which the store has less than this core believed. Returns the total difference. */
  lower(unspent: ReadonlyMap<string, PicoUsd>): PicoUsd {
    let excess = 0;
    for (const slice of this.#open) {
      const less = Math.max(0, slice.available - (unspent.get(slice.id) ?? slice.available));
      slice.available -= less;
      slice.granted -= less;
      excess += less;
    }
    this.#available -= excess;
    return excess;
  }

  /** Forgets slices that no longer belong to this core. */
  lose(sliceIds: ReadonlySet<string>): void {
    for (const slice of this.#open) {
      if (sliceIds.has(slice.id)) {
        this.#available -= slice.available;
      }
    }
    this.#open = this.#open.filter((slice) => !sliceIds.has(slice.id));
    this.#drained = this.#drained.filter((slice) => !sliceIds.has(slice.id));
    this.#check();
  }

  /** Takes out at most `most` from the chosen slices, from the last lots first. */
  take(most: PicoUsd, choose: (slice: LeasedSlice) => boolean): TakenPart[] {
    const parts: TakenPart[] = [];
    let left = most;
    for (const slice of this.#open.toReversed()) {
      const amount = choose(slice) ? Math.min(left, slice.available) : 0;
      if (amount > 0) {
        slice.available -= amount;
        slice.granted -= amount;
        this.#available -= amount;
        left -= amount;
        parts.push({ sliceId: slice.id, granted: slice.granted, amount });
      }
    }
    return parts;
  }

  /** Takes out used-up slices whose charges are all stored, to be closed. */
  takeDrained(): string[] {
    if (this.#drained.length === 0) {
      return [];
    }
    const ids = this.#drained.filter((slice) => slice.uncommitted === 0).map((slice) => slice.id);
    if (ids.length > 0) {
      this.#drained = this.#drained.filter((slice) => slice.uncommitted > 0);
    }
    return ids;
  }

  /** Takes out all slices, to be closed. */
  takeAll(): string[] {
    const ids = this.all.map((slice) => slice.id);
    this.#open = [];
    this.#drained = [];
    this.#available = 0;
    return ids;
  }

  #find(sliceId: string): OpenSlice | undefined {
    return this.#open.find((slice) => slice.id === sliceId) ?? this.#drained.find((slice) => slice.id === sliceId);
  }

  #check(): void {
    let sum = 0;
    for (const { available, granted } of this.#open) {
      invariant(
        available >= 0 && available <= granted,
        "of each slice no less than zero and no more than granted is left",
      );
      sum += available;
    }
    invariant(sum === this.#available, "a wallet's available money is the sum of its slices'");
  }
}

export function isExpired({ expiresAt }: LeasedSlice, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Compares slices by the spending order. Of one lot, the slice leased first comes first. */
function byTurn(a: LeasedSlice, b: LeasedSlice): number {
  return bySpending(a, b) || (a.id < b.id ? -1 : 1);
}
