import type { Clock } from "../../../lib/time/clock.ts";
import { requestKey } from "./run.ts";

/** How old an id may be to count as fresh. Covers how far the clocks of facades and cores are apart. */
const freshMs = 10_000;
const prefix = "req_";

/** A request, named within its account. */
interface AccountRequest {
  readonly accountId: string;
  readonly requestId: string;
}

/**
 * Tells without the store whether an account ran a request before. Ids that our facades make carry the time
 * of their making (see newRequestId), so a fresh id was not used before that time, and requests charged
 * since then are remembered here. Any other id has to be looked up. A caller that makes such an id itself and sends
 * it to two cores is run twice, and charged twice: each run has a charge of its own.
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

  /** True when the id is certainly new to the account, so that the store need not be asked. */
  isNew(request: AccountRequest): boolean {
    if (!this.#isFresh(request.requestId)) {
      return false;
    }
    const key = requestKey(request);
    return !this.#recent.has(key) && !this.#older.has(key);
  }

  /** Remembers a charged request for as long as its id may be fresh. */
  add(request: AccountRequest): void {
    const now = this.#clock.monotonic();
    if (now - this.#since > 2 * freshMs) {
      this.#older = this.#recent;
      this.#recent = new Set();
      this.#since = now;
    }
    this.#recent.add(requestKey(request));
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
