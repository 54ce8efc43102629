/** The most keys that are remembered. A forgotten key is level with everybody. */
const mostKeys = 10_000;
/** Keys that stay when the oldest are forgotten: one pass over all of them makes room for thousands of new ones. */
const keptKeys = 8000;

/**
 * Turns by the tokens that each key was served, so that a key with large prompts gets no more than one with many small
 * prompts. This is the virtual token counter of Sheng et al. (OSDI 2024), with the virtual time of start-time fair
 * queuing instead of a minimum over all. A new key starts level with the waiting ones: unused turns are not saved.
 */
export class TokenTurns {
  /** The tokens served to each key, in virtual time. A key that is behind the present counts as level with it. */
  readonly #served = new Map<string, number>();
  /** The key that was served last. It is at the map's end already, and moving it there again would cost a new table. */
  #latest: string | undefined;
  #present = 0;

  /** Virtual time: the rank of a key that is level with everybody. */
  get present(): number {
    return this.#present;
  }

  /** A key's rank. The lowest is served next. */
  rank(key: string): number {
    return Math.max(this.#served.get(key) ?? 0, this.#present);
  }

  /** Counts tokens as served to a key. Negative: it was served fewer than expected. */
  serve(key: string, tokens: number): void {
    const served = this.rank(key) + tokens;
    if (served <= this.#present || key !== this.#latest) {
      this.#served.delete(key);
    }
    if (served > this.#present) {
      this.#served.set(key, served); // at the end of the map, as the key that was served last
      this.#latest = key;
    }
    if (this.#served.size > mostKeys) {
      this.#forget();
    }
  }

  /** Advances virtual time: no waiting key ranks lower than this. */
  advance(present: number): void {
    this.#present = Math.max(this.#present, present);
  }

  #forget(): void {
    for (const [key, served] of this.#served) {
      if (served <= this.#present) {
        this.#served.delete(key);
      }
    }
    for (const key of this.#served.keys()) {
      if (this.#served.size <= keptKeys) {
        return;
      }
      this.#served.delete(key);
    }
  }
}
