import type { RateLimitState } from "#lib/rpc/rate-limit.ts";
import type { Caller } from "#src/wire/principal.ts";

/** A running request. */
export interface RateLimitedRun {
  readonly rateLimit: RateLimitState;
  /** How many times as many tokens as other accounts its account is served when all wait for a server. */
  readonly turnWeight: number;
  leave(tokens: number): void;
}

/** Limits of requests and tokens a minute, and of requests at once. */
export interface RateLimits {
  /**
   * Counts one request. Throws RATE_LIMITED or FREE_TIER_LIMITED with a true retry delay, and the key's rate-limit
   * state in the metadata. A refused request counts nothing.
   */
  admit(caller: Caller): Promise<RateLimitState>;
  /**
   * As `admit`, for a request that runs. Until `leave` it takes one of its key's places, one of its account's places,
   * and its token bound of its key's tokens a minute. `leave` gets the tokens that were charged; they stay counted for
   * a minute. Also throws RATE_LIMITED when too little of any of these is left; then nothing is counted.
   */
  begin(caller: Caller, tokenBound: number): Promise<RateLimitedRun>;
  /**
   * Throws, or rejects with, the error of `admit` or `begin` for a caller that was refused a moment ago and would be
   * again, whatever it asks for. Counts nothing.
   */
  refuseAgain(caller: Caller): void | Promise<void>;
  /** The caller's rate-limit state. Counts nothing. */
  read(caller: Caller): Promise<RateLimitState>;
}
