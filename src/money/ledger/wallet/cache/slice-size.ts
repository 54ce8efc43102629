import type { PicoUsd } from "../../../model/interface.ts";

/** Sums of money in memory stay below this, so that they are exact. In pico-USD. */
export const mostLeased = 2 ** 52;
/**
 * Where cores share the lots, the first slice has this size, and each further one doubles up to the last. In pico-USD.
 */
const firstSlice = 12_500_000_000;
const lastSlice = 1_000_000_000_000;

/** How much a core leases in advance. */
export class SliceSize {
  readonly #shared: boolean;
  #last: PicoUsd = 0;

  /** `shared`: other cores want the money, too. */
  constructor(shared: boolean) {
    this.#shared = shared;
  }

  /** When less than this is free, more is leased before it runs out. */
  get low(): PicoUsd {
    return this.#last / 4;
  }

  /** The amount to lease next: the whole lot when no other core wants it. */
  next(): PicoUsd {
    if (!this.#shared) {
      return mostLeased;
    }
    this.#last = this.#last === 0 ? firstSlice : Math.min(this.#last * 2, lastSlice);
    return this.#last;
  }
}
