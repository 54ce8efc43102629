import type { ConnectError } from "@connectrpc/connect";

/** Where a key stands in its rolling minute. */
export interface RateLimitState {
  /** Requests allowed in any 60 seconds. */
  readonly limit: number;
  /** Requests that would be admitted right now. */
  readonly remaining: number;
  /** Until the whole limit is available again. 0: it is. */
  readonly resetAfterMs: number;
}

/**
 * The metadata key, of responses and of errors, that tells where a key stands: `limit=60, remaining=59, reset=0.25`, a
 * dictionary of RFC 9651 whose `reset` is in seconds and left out when it is 0. One key and not three, because each costs
 * every call as much again.
 */
export const rateLimitHeader = "x-tollgate-rate-limit";

/** Adds where a key stands to a response's metadata. */
export function writeRateLimit(metadata: Headers, { limit, remaining, resetAfterMs }: RateLimitState): void {
  const reset = resetAfterMs > 0 ? `, reset=${Math.ceil(resetAfterMs) / 1000}` : "";
  metadata.set(rateLimitHeader, `limit=${limit}, remaining=${remaining}${reset}`);
}

/** An error with where a key stands in its metadata. */
export function withRateLimit(error: ConnectError, state: RateLimitState): ConnectError {
  writeRateLimit(error.metadata, state);
  return error;
}

const form = /^limit=(\d{1,10}), remaining=(\d{1,10})(?:, reset=(\d{1,10}(?:\.\d{1,3})?))?$/;

/** Where a key stands by a response's or an error's metadata. Undefined: they do not tell. */
export function readRateLimit(metadata: Headers): RateLimitState | undefined {
  const [, limit, remaining, reset = "0"] = form.exec(metadata.get(rateLimitHeader) ?? "") ?? [];
  return limit === undefined
    ? undefined
    : { limit: Number(limit), remaining: Number(remaining), resetAfterMs: Math.round(Number(reset) * 1000) };
}
