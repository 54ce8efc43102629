/** The first step on SQLite: fits into the time on slow disks, too. */
const firstRows = 40;
const mostRows = 5000;

/**
 * How many rows a step takes: as many as fit into the time that others may wait for it, as the last steps have shown. So a
 * long backlog leaves in large steps where the machine is fast, and no step takes long where it is not.
 */
export class StepSize {
  readonly #mostMs: number;
  #rows = firstRows;

  constructor(mostMs: number) {
    this.#mostMs = mostMs;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Takes note of how long a step took. A step of fewer rows than it might have had tells nothing of larger ones. */
  took(rows: number, ms: number): void {
    if (ms > this.#mostMs) {
      this.#rows = Math.max(1, Math.floor((this.#rows * this.#mostMs) / ms));
    } else if (rows >= this.#rows && ms < this.#mostMs / 2) {
      this.#rows = Math.min(mostRows, this.#rows * 2);
    }
  }
}
