/** Keys of which more is remembered than that they are level with everybody. */
const mostKeys = 10_000;
/** Keys that are left when there were more and the earliest are let go: one look at all of them serves thousands that come. */
const keptKeys = 8000;

/**
 * Turns by the tokens that a key was served, so that one who sends large prompts gets no more than those who send many
 * small ones: the virtual token counter of Sheng et al. (OSDI 2024), with the virtual time of start-time fair queuing
 * in place of a minimum over all. A key that comes anew is level with those who wait, whatever it did not use before.
 */
export class TokenTurns {
  /** The tokens served to each key, in virtual time. Keys that are behind the present are level with it. */
  readonly #served = new Map<string, number>();
  /** The key that was served last: it stands at the end, and need not be moved there, which would cost a new table. */
  #latest: string | undefined;
  #present = 0;

  /** Where a key stands: the lowest is served next. */
  rank(key: string): number {
    return Math.max(this.#served.get(key) ?? 0, this.#present);
  }

  /** A key is served tokens, or fewer than it was thought, where they are below 0. */
  serve(key: string, tokens: number): void {
    const served = this.rank(key) + tokens;
    if (served <= this.#present || key !== this.#latest) {
      this.#served.delete(key);
    }
    if (served > this.#present) {
      this.#served.set(key, served); // at the end, as the key that was served last
      this.#latest = key;
    }
    if (this.#served.size > mostKeys) {
      this.#forget();
    }
  }

  /** Nobody who waits stands lower than this. */
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
