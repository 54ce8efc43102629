import type { Random } from "#lib/ids/random.ts";
import { uuidSource } from "#lib/ids/uuid.ts";

/** Reproducible randomness: mulberry32. Each part of the world has its own dice, so that parts stay independent. */
export class Dice implements Random {
  readonly #seed: number;
  readonly #uuid: () => string;
  #state: number;

  /** `now` returns the time for identifiers. */
  constructor(seed: number, now: () => number = () => 0) {
    this.#seed = seed | 0;
    this.#state = this.#seed;
    const fill = (bytes: Uint8Array) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at + 4 <= bytes.length; at += 4) {
        view.setUint32(at, this.#next());
      }
    };
    this.#uuid = uuidSource(fill, () => Math.floor(now()));
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** Derived dice, the same for the same name. */
  fork(name: string, now?: () => number): Dice {
    let hash = this.#seed ^ 0x9e3779b9;
    for (const letter of name) {
      hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
      hash ^= hash >>> 13;
    }
    return new Dice(Math.imul(hash ^ (hash >>> 16), 0x85ebca6b), now);
  }

  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#next() & 0xff);
  }

  uuid(): string {
    return this.#uuid();
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** A random span with this mean, as between independent events. */
  exponential(mean: number): number {
    return -Math.log(1 - this.fraction()) * mean;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.fraction() * from.length)];
    if (found === undefined) {
      throw new Error("there is nothing to pick from");
    }
    return found;
  }

  /** Picks an item with a probability proportional to its weight. */
  pickWeighted<T extends { readonly weight: number }>(from: readonly T[]): T {
    let left = this.fraction() * from.reduce((sum, { weight }) => sum + weight, 0);
    for (const one of from) {
      left -= one.weight;
      if (left < 0) {
        return one;
      }
    }
    return this.pick(from);
  }
}
