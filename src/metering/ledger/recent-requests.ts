import type { Clock } from "../../../lib/time/clock.ts";

/** How old an id may be to count as fresh. Covers how far the clocks of facades and cores are apart. */
const FRESH_MS = 10_000;
const PREFIX = "req_";

/**
 * Tells without the store whether a request was run before. Ids that our facades make carry the time
 * of their making (see newRequestId), so a fresh one cannot have been used before that time, and what
 * was charged since is remembered here. Any other id has to be looked up.
 */
export class RecentRequests {
  readonly #clock: Clock;
  #recent = new Set<string>();
  #older = new Set<string>();
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Whether the request was charged here a short time ago. */
  has(requestId: string): boolean {
    return this.#recent.has(requestId) || this.#older.has(requestId);
  }

  /** Remembers a charged request for as long as its id may be fresh. */
  add(requestId: string): void {
    const now = this.#clock.monotonic();
    if (now - this.#since > 2 * FRESH_MS) {
      this.#older = this.#recent;
      this.#recent = new Set();
      this.#since = now;
    }
    this.#recent.add(requestId);
  }

  /** Whether the id was made just now. */
  isFresh(requestId: string): boolean {
    if (requestId.length !== PREFIX.length + 32 || !requestId.startsWith(PREFIX)) return false;
    const madeAt = Number.parseInt(requestId.slice(PREFIX.length, PREFIX.length + 12), 16);
    return Math.abs(this.#clock.now() - madeAt) <= FRESH_MS;
  }
}
