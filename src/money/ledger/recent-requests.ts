import type { Clock } from "#lib/time/clock.ts";
import { Fingerprints } from "./fingerprints.ts";

/** How old an id may be to count as fresh. Covers the difference between the clocks of facades and cores. */
const freshMs = 10_000;
const prefix = "req_";

/**
 * Tells without the store whether a request ran before. Ids made by our facades carry their time (see newRequestId), so
 * a fresh id was not used before that time, and requests charged since then are remembered here. Any other id has to be
 * looked up, and so has one that another account used. A caller that makes such an id itself and sends it to two cores
 * gets two runs and pays for both: each run has its own charge.
 */
export class RecentRequests {
  readonly #clock: Clock;
  #recent = new Fingerprints();
  #older = new Fingerprints();
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** True when the id is certainly new, so that the store need not be asked. */
  isNew(requestId: string): boolean {
    return this.#isFresh(requestId) && !this.#recent.has(requestId) && !this.#older.has(requestId);
  }

  /** Remembers a charged request for as long as its id may be fresh. */
  add(requestId: string): void {
    const now = this.#clock.monotonic();
    if (now - this.#since > 2 * freshMs) {
      [this.#older, this.#recent] = [this.#recent, this.#older];
      this.#recent.clear();
      this.#since = now;
    }
    this.#recent.add(requestId);
  }

  /** True when the id was made just now. */
  #isFresh(requestId: string): boolean {
    if (requestId.length !== prefix.length + 32 || !requestId.startsWith(prefix)) {
      return false;
    }
    const madeAt = Number.parseInt(requestId.slice(prefix.length, prefix.length + 12), 16);
    return Math.abs(this.#clock.now() - madeAt) <= freshMs;
  }
}
