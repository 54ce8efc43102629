import type { Random } from "#lib/ids/random.ts";

/** Randomness that repeats itself: mulberry32. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.fraction() * 256));
  }

  uuid(): string {
    return Buffer.from(this.bytes(16)).toString("hex");
  }

  /** A whole number from `low` up to and with `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** A span with this mean, as between events that do not know of each other. */
  exponential(mean: number): number {
    return -Math.log(1 - this.fraction()) * mean;
  }
}
