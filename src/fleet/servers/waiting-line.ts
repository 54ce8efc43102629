/** One who waits. */
export interface Waiter {
  /** Whose turn it takes: waiters with the same key stand behind each other. */
  readonly key: string;
  /** When it stops waiting; who came first stops first. */
  readonly deadline: number;
}

/** Every so many turns go to whoever has waited longest, so that even who holds most gets on. */
const turnsOfTheOldest = 8;

/** A queue in which those keys come first that hold least, so that one who sends much does not make the others wait. */
export class WaitingLine<T extends Waiter> {
  readonly #lines = new Map<string, T[]>();
  readonly #held: (key: string) => number;
  #length = 0;
  #turns = 0;

  /** `held` tells how much a key has already. Keys with the same count take turns. */
  constructor(held: (key: string) => number) {
    this.#held = held;
  }

  get length(): number {
    return this.#length;
  }

  /** How many wait with a key. */
  lengthOf(key: string): number {
    return this.#lines.get(key)?.length ?? 0;
  }

  push(waiter: T): void {
    const line = this.#lines.get(waiter.key);
    if (line === undefined) {
      this.#lines.set(waiter.key, [waiter]);
    } else {
      line.push(waiter);
    }
    this.#length++;
  }

  /** Takes a waiter out who does not want to wait any longer. */
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
    }
  }

  /** The last of the key with the most waiters. Undefined: nobody waits. */
  lastOfLongest(): T | undefined {
    let longest: readonly T[] = [];
    for (const line of this.#lines.values()) {
      if (line.length > longest.length) {
        longest = line;
      }
    }
    return longest.at(-1);
  }

  /** Takes the next waiter out for whom `serve` answers true; its key stands behind its equals then. */
  serveNext(serve: (waiter: T) => boolean): boolean {
    for (const key of this.#order()) {
      const line = this.#lines.get(key);
      const at = line?.findIndex(serve) ?? -1;
      if (line === undefined || at === -1) {
        continue;
      }
      line.splice(at, 1);
      this.#length--;
      this.#turns++;
      this.#lines.delete(key);
      if (line.length > 0) {
        this.#lines.set(key, line);
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
    const isOldests = this.#turns % turnsOfTheOldest === turnsOfTheOldest - 1;
    const rank = isOldests ? (key: string) => this.#lines.get(key)?.[0]?.deadline ?? 0 : this.#held;
    const ranks = new Map(keys.map((key) => [key, rank(key)]));
    return keys.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)); // keeps the order of equals
  }
}
