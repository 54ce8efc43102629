import { times } from "../protocol.ts";

/**
 * A region's right to admit: it lasts a term from the sending of the last exchange that was answered, by the monotonic
 * clock, less the margin. So a late answer brings no more than a punctual one.
 */
export class Term {
  readonly #now: () => number;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The exchange that was sent then was answered. */
  renew(sentAt: number): void {
    this.#sentAt = Math.max(this.#sentAt, sentAt);
  }

  get isValid(): boolean {
    return this.#now() < this.#sentAt + times.term - times.margin;
  }

  /** Whether an exchange was answered that was sent no longer ago than so. */
  isHeard(withinMs: number): boolean {
    return this.#now() < this.#sentAt + withinMs;
  }

  /** Whether all keys that were revoked longer ago than so are known. */
  knowsRevoked(withinMs: number): boolean {
    return this.#now() < this.#sentAt + withinMs - times.margin;
  }
}
