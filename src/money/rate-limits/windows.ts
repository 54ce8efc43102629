import type { QuotaDemand, QuotaState } from "./quota.ts";

/** The state of a key's rolling minute. */
export interface WindowState {
  /** Requests admitted within the last minute. */
  readonly used: number;
  /** Milliseconds until a request would be admitted. 0: now. */
  readonly waitMs: number;
  /** Milliseconds until nothing counts any more. */
  readonly resetAfterMs: number;
  /** The limit that was applied: lower than the one asked for while cores cannot count together. */
  readonly limit: number;
}

/** The state after one request. A refused request counts nothing and has to wait for waitMs. */
export interface RateLimitDecision extends WindowState {
  readonly admitted: boolean;
}

/** The result of asking to run a request. */
export interface RunDecision {
  readonly window: RateLimitDecision;
  /** One for each demand, including what the run took. */
  readonly quotas: readonly QuotaState[];
  /** The index of the first demand that does not fit. Undefined: all do. */
  readonly full: number | undefined;
  /** Gives back the amounts taken, once. The given part of each stays counted for a minute. */
  end(counted: readonly number[]): void;
}

/** Counts requests over rolling minutes: at most `limit` of a key are admitted within any 60 seconds. */
export interface Windows {
  /** True when all cores count together. */
  readonly areShared: boolean;
  /** Counts one request, or refuses it. The limit is at least 1. */
  admit(key: string, limit: number): RateLimitDecision | Promise<RateLimitDecision>;
  /**
   * As admit, for a request that takes parts of quotas while it runs: it is counted and gets all of them, or nothing.
   */
  begin(key: string, limit: number, demands: readonly QuotaDemand[]): RunDecision | Promise<RunDecision>;
  /** The state of a key. Counts nothing. */
  read(key: string, limit: number): WindowState | Promise<WindowState>;
  close(): Promise<void>;
}
