/** How long to wait before an ended process is started again: longer each time, until one ran long enough. */
export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #heldMs: number;
  #nextMs: number;

  constructor({ firstMs = 500, mostMs = 30_000, heldMs = 60_000 } = {}) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
    this.#heldMs = heldMs;
    this.#nextMs = firstMs;
  }

  /** Milliseconds to wait after it ran for `ranMs`. */
  after(ranMs: number): number {
    const wait = ranMs >= this.#heldMs ? this.#firstMs : this.#nextMs;
    this.#nextMs = Math.min(wait * 2, this.#mostMs);
    return wait;
  }
}
