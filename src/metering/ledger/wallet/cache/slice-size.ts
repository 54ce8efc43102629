import type { PicoUsd } from "../../../interface.ts";

/** Sums of money in memory stay below this, so that they are exact. */
export const mostLeased = 2 ** 52;
/** Where cores share the lots, a first slice is of this size and each further one doubles, up to the last. */
const firstSlice = 12_500_000_000;
const lastSlice = 1_000_000_000_000;

/** How much a core leases in advance. */
export class SliceSize {
  readonly #shared: boolean;
  #last: PicoUsd = 0;

  /** Shared: other cores want the money too. */
  constructor(shared: boolean) {
    this.#shared = shared;
  }

  /** Leased below this, more is fetched before it runs out. */
  get low(): PicoUsd {
    return this.#last / 4;
  }

  /** What to lease next: the whole lot where nobody else wants it. */
  next(): PicoUsd {
    if (!this.#shared) {
      return mostLeased;
    }
    this.#last = this.#last === 0 ? firstSlice : Math.min(this.#last * 2, lastSlice);
    return this.#last;
  }
}
