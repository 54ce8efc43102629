/** Counts what happens in each turn of the event loop, until it is stopped. */
export class TurnCount {
  readonly #counts = new Map<number, number>();
  #turn = 0;
  #isRunning = true;

  constructor() {
    const next = () => {
      this.#turn += 1;
      if (this.#isRunning) {
        setImmediate(next);
      }
    };
    next();
  }

  note(): void {
    this.#counts.set(this.#turn, (this.#counts.get(this.#turn) ?? 0) + 1);
  }

  /** Returns the most that happened in one turn, and how often it happened in all. */
  stop(): { readonly most: number; readonly all: number } {
    this.#isRunning = false;
    const counts = [...this.#counts.values()];
    return { most: Math.max(0, ...counts), all: counts.reduce((sum, count) => sum + count, 0) };
  }
}
