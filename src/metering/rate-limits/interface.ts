import type { RateLimitState } from "../../../lib/rpc/rate-limit.ts";
import type { Caller } from "../../accounts/interface.ts";

/** A request that runs. */
export interface RateLimitedRun {
  readonly rateLimit: RateLimitState;
  /** How many times the tokens of other accounts its account is served where all wait for a server. */
  readonly turnWeight: number;
  leave(tokens: number): void;
}

/** Requests a minute. */
export interface RateLimits {
  /**
   * Counts one request. Throws RATE_LIMITED or FREE_TIER_LIMITED with a true retry delay, and in its metadata where the
   * key stands; those count nothing.
   */
  admit(caller: Caller): Promise<RateLimitState>;
  /**
   * As `admit`, for a request that runs: it takes one of its key's and of its account's places, and as many of its key's
   * tokens a minute as it may come to, until `leave` is called with the tokens that it was charged for; those stay
   * counted for a minute. Throws RATE_LIMITED too when there is too little of one of them, which counts nothing.
   */
  begin(caller: Caller, tokenBound: number): Promise<RateLimitedRun>;
  /** Where the caller stands, without counting. */
  read(caller: Caller): Promise<RateLimitState>;
}
