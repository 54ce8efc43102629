import type { Clock } from "#lib/time/clock.ts";

/** A waiting request. */
export interface Waiter {
  /** Whose turn the waiter takes. Waiters with the same key are served in their order. */
  readonly key: string;
  /** When the waiter stops waiting. An earlier waiter has an earlier deadline. */
  readonly deadline: number;
}

/** A queue that serves the key with the lowest rank first, so that one heavy sender does not make the others wait. */
export class WaitingLine<T extends Waiter> {
  readonly #lines = new Map<string, T[]>();
  /** Since when each key waits for its turn: since its first waiter came, or since it was served last. */
  readonly #since = new Map<string, number>();
  readonly #clock: Pick<Clock, "monotonic">;
  /** How much a key has had already. */
  readonly rank: (key: string) => number;
  #length = 0;

  /** Keys of equal rank take turns. */
  constructor(rank: (key: string) => number, clock: Pick<Clock, "monotonic">) {
    this.rank = rank;
    this.#clock = clock;
  }

  get length(): number {
    return this.#length;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const line of this.#lines.values()) {
      yield* line;
    }
  }

  /** How many requests of a key wait. */
  lengthOf(key: string): number {
    return this.#lines.get(key)?.length ?? 0;
  }

  /** Since when a waiting key waits for its turn, on the monotonic clock. */
  since(key: string): number {
    return this.#since.get(key) ?? this.#clock.monotonic();
  }

  push(waiter: T): void {
    const line = this.#lines.get(waiter.key);
    if (line === undefined) {
      this.#lines.set(waiter.key, [waiter]);
      this.#since.set(waiter.key, this.#clock.monotonic());
    } else {
      line.push(waiter);
    }
    this.#length++;
  }

  /** Removes a waiter that stops waiting. */
  remove(waiter: T): void {
    const line = this.#lines.get(waiter.key);
    const at = line?.indexOf(waiter) ?? -1;
    if (line === undefined || at === -1) {
      return;
    }
    line.splice(at, 1);
    this.#length--;
    if (line.length === 0) {
      this.#lines.delete(waiter.key);
      this.#since.delete(waiter.key);
    }
  }

  /** The last waiter of the key with the most waiters. Undefined: nobody waits. */
  lastOfLongest(): T | undefined {
    let longest: readonly T[] = [];
    for (const line of this.#lines.values()) {
      if (line.length > longest.length) {
        longest = line;
      }
    }
    return longest.at(-1);
  }

  /** The next waiter that passes a test. */
  first(test: (waiter: T) => boolean): T | undefined {
    for (const key of this.#order()) {
      const waiter = this.#lines.get(key)?.find(test);
      if (waiter !== undefined) {
        return waiter;
      }
    }
    return undefined;
  }

  /** The lowest rank of the waiting keys. Infinity: nobody waits. */
  lowestRank(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const key of this.#lines.keys()) {
      lowest = Math.min(lowest, this.rank(key));
    }
    return lowest;
  }

  /** Removes the next waiter for which `serve` returns true. Its key then goes behind keys of equal rank. */
  serveNext(serve: (waiter: T) => boolean): boolean {
    for (const key of this.#order()) {
      const line = this.#lines.get(key);
      const at = line?.findIndex(serve) ?? -1;
      if (line === undefined || at === -1) {
        continue;
      }
      line.splice(at, 1);
      this.#length--;
      this.#lines.delete(key);
      this.#since.delete(key);
      if (line.length > 0) {
        this.#lines.set(key, line);
        this.#since.set(key, this.#clock.monotonic());
      }
      return true;
    }
    return false;
  }

  #order(): readonly string[] {
    const keys = [...this.#lines.keys()];
    if (keys.length === 1) {
      return keys;
    }
    const ranks = new Map(keys.map((key) => [key, this.rank(key)]));
    return keys.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)); // stable: keeps the order of equal ranks
  }
}
