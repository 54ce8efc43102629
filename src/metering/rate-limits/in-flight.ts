import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { durationOf } from "../../../lib/time/duration.ts";

/** When a refused request is worth another try: places become free with every answer. */
const retryMs = 1000;

/** Counts the requests that each account runs on this core. */
export class InFlight {
  readonly #running = new Map<string, number>();

  /** How many accounts run anything. */
  get accounts(): number {
    return this.#running.size;
  }

  /** Takes a place; what it returns gives it back, once. Throws RATE_LIMITED when the account has none left. */
  enter(accountId: string, limit: number): () => void {
    const running = this.#running.get(accountId) ?? 0;
    if (running >= limit) {
      throw refusal(limit);
    }
    this.#running.set(accountId, running + 1);
    let isIn = true;
    return () => {
      if (isIn) {
        this.#leave(accountId);
      }
      isIn = false;
    };
  }

  #leave(accountId: string): void {
    const running = this.#running.get(accountId) ?? 0;
    if (running <= 1) {
      this.#running.delete(accountId);
    } else {
      this.#running.set(accountId, running - 1);
    }
  }
}

function refusal(limit: number): Error {
  const requests = `${limit} ${limit === 1 ? "request" : "requests"}`;
  return failure(
    Reason.RATE_LIMITED,
    `This account may run ${requests} at once, and as many are running. Retry in 1 s, or when one has ended.`,
    { retryAfter: durationOf(retryMs), bound: { case: "concurrency", value: { requests: limit } } },
  );
}
