import type { PurseKind } from "../protocol.ts";
import { times } from "../protocol.ts";
import type { BankSlice, Receipt } from "./store.ts";

/** The weight of one second's spending in the mean. */
const smoothing = 0.15;
/** A slice is worth at least this many requests, however few come. */
const fewRequests = 4;

/** What a region may spend of a purse: its slices, less what requests hold. Models all its cores' wallets as one. */
export class BankPurse {
  readonly id: string;
  readonly kind: PurseKind;
  /** In spending order. */
  readonly slices: BankSlice[] = [];
  held = 0;
  isPoor = false;
  /** What must be returned before anybody uses it again. */
  excess = 0;
  /** What other regions have of it, as last reported. */
  elsewhere = 1;
  /** Until when asking is pointless, by the monotonic clock. */
  dryUntil = Number.NEGATIVE_INFINITY;
  usedAt = 0;
  /** The largest total that was asked for, and when. */
  wishedTo = 0;
  wishedAt = Number.NEGATIVE_INFINITY;
  /** The mean spending a second. */
  pace = 0;
  #spentNow = 0;
  /** What a large request roughly holds. */
  #usual = 0;
  /** When the permits of a per-minute limit were used. */
  #permits: number[] = [];

  constructor(id: string, kind: PurseKind) {
    this.id = id;
    this.kind = kind;
  }

  add(slice: BankSlice): void {
    this.slices.push(slice);
    this.slices.sort(bySpending);
  }

  /** What was granted, and neither spent nor returned. */
  get left(): number {
    return this.slices.reduce((sum, { granted, spent, returned }) => sum + granted - spent - returned, 0);
  }

  /** What no request holds. */
  get spare(): number {
    return this.left - this.held;
  }

  /** What a new request may hold. */
  get free(): number {
    return this.spare - this.excess;
  }

  grantedIn(epoch: number): number {
    return this.slices.reduce((sum, slice) => sum + (slice.epoch === epoch ? slice.granted : 0), 0);
  }

  hold(amount: number, now: number): void {
    this.usedAt = now;
    if (this.kind === "rate") {
      this.#permits.push(now);
    }
    this.held += amount;
    this.#spentNow += amount;
    this.#usual = Math.max(amount, this.#usual);
  }

  unhold(amount: number): void {
    this.held -= amount;
  }

  /** A second has passed. */
  tick(now: number): void {
    this.pace += smoothing * (this.#spentNow - this.pace);
    this.#spentNow = 0;
    if (this.kind === "rate") {
      const before = this.#permits.length;
      this.#permits = this.#permits.filter((at) => at > now - times.sureMinute);
      this.held -= before - this.#permits.length; // a permit is held for a minute by any clock
    }
  }

  /**
   * Returns what no request holds: all of past epochs, and of this epoch everything above `keep`, from the last slices
   * first. The excess is returned in any case. Returns whether anything was returned.
   */
  giveBack(keep: number, epoch: number, exchange: number): boolean {
    const before = this.left;
    const stay = Math.min(keep, Math.max(0, this.free));
    for (const slice of this.slices.toReversed()) {
      if (slice.epoch !== epoch) {
        returnOf(slice, this.spare, exchange);
      }
    }
    for (const slice of this.slices.toReversed()) {
      returnOf(slice, this.spare - stay, exchange);
    }
    this.excess = Math.max(0, this.excess - (before - this.left));
    return this.left < before;
  }

  /** How much more would last for a while, at least `need`. */
  wish(need: number): number {
    if (this.kind === "rate") {
      return Math.max(need, Math.ceil(this.#permits.length / 2));
    }
    return Math.max(need, fewRequests * this.#usual, Math.floor((this.pace * times.high) / 1000));
  }

  /** Whether it will soon be short at the current pace. */
  get isLow(): boolean {
    return this.kind === "rate" ? this.free < this.#permits.length / 10 : this.free < (this.pace * times.low) / 1000;
  }
}

/** Returns at most `most` of a slice. */
function returnOf(slice: BankSlice, most: number, exchange: number): void {
  const part = Math.min(most, slice.granted - slice.spent - slice.returned);
  if (part > 0) {
    slice.returned += part;
    slice.changedIn = exchange;
  }
}

/** The order of spending. What is left of an earlier epoch comes first. */
export function bySpending(a: BankSlice, b: BankSlice): number {
  return a.lot.order - b.lot.order || a.epoch - b.epoch;
}

/** Pays a cost from slices. Returns which slice paid what; the part missing in the lines could not be paid. */
export function spend(slices: readonly BankSlice[], cost: number, exchange: number): Receipt["lines"] {
  const lines = [];
  let left = cost;
  for (const slice of slices) {
    const part = Math.min(left, slice.granted - slice.spent - slice.returned);
    if (part > 0) {
      slice.spent += part;
      slice.changedIn = exchange;
      left -= part;
      lines.push({ lotId: slice.lot.id, epoch: slice.epoch, cost: part });
    }
  }
  return lines;
}
