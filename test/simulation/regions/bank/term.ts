import { times } from "../protocol.ts";

/**
 * A region's right to admit. By the monotonic clock, it lasts one term, less the margin, from the sending of the last
 * answered exchange. So a late answer brings no more than a punctual one.
 */
export class Term {
  readonly #now: () => number;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The exchange that was sent at `sentAt` was answered. */
  renew(sentAt: number): void {
    this.#sentAt = Math.max(this.#sentAt, sentAt);
  }

  get isValid(): boolean {
    return this.#now() < this.#sentAt + times.term - times.margin;
  }

  /** Whether an exchange was answered that was sent within the last `withinMs`. */
  isHeard(withinMs: number): boolean {
    return this.#now() < this.#sentAt + withinMs;
  }

  /** Whether all keys revoked more than `withinMs` ago are known. */
  knowsRevoked(withinMs: number): boolean {
    return this.#now() < this.#sentAt + withinMs - times.margin;
  }
}
