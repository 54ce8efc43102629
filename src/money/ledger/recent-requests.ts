import type { Clock } from "#lib/time/clock.ts";

/** How old an id may be to count as fresh. Covers the difference between the clocks of facades and cores. */
const freshMs = 10_000;
const prefix = "req_";

/** A request, named within its account. */
interface AccountRequest {
  readonly accountId: string;
  readonly requestId: string;
}

/**
 * Ids of requests by account. Not one map with both in its key: that text would be made, hashed and kept for each
 * question.
 */
type RequestIds = Map<string, Set<string>>;

/**
 * Tells without the store whether an account ran a request before. Ids made by our facades carry their time (see
 * newRequestId), so a fresh id was not used before that time, and requests charged since then are remembered here. Any
 * other id has to be looked up. A caller that makes such an id itself and sends it to two cores gets two runs and pays
 * for both: each run has its own charge.
 */
export class RecentRequests {
  readonly #clock: Clock;
  #recent: RequestIds = new Map();
  #older: RequestIds = new Map();
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** True when the id is certainly new to the account, so that the store need not be asked. */
  isNew({ accountId, requestId }: AccountRequest): boolean {
    return (
      this.#isFresh(requestId) && !has(this.#recent, accountId, requestId) && !has(this.#older, accountId, requestId)
    );
  }

  /** Remembers a charged request for as long as its id may be fresh. */
  add({ accountId, requestId }: AccountRequest): void {
    const now = this.#clock.monotonic();
    if (now - this.#since > 2 * freshMs) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#since = now;
    }
    const ids = this.#recent.get(accountId);
    if (ids === undefined) {
      this.#recent.set(accountId, new Set([requestId]));
    } else {
      ids.add(requestId);
    }
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

function has(ids: RequestIds, accountId: string, requestId: string): boolean {
  return ids.get(accountId)?.has(requestId) ?? false;
}
