import type { RateLimitState } from "../../../lib/rpc/rate-limit.ts";

/** Adds what both vendors' clients read of a rate limit: `x-ratelimit-*` and `anthropic-ratelimit-*`. */
export function addRateLimit(headers: Record<string, string>, state: RateLimitState, now: number): void {
  const ms = Math.ceil(state.resetAfterMs);
  headers["x-ratelimit-limit-requests"] = headers["anthropic-ratelimit-requests-limit"] = String(state.limit);
  headers["x-ratelimit-remaining-requests"] = headers["anthropic-ratelimit-requests-remaining"] = String(
    state.remaining,
  );
  headers["x-ratelimit-reset-requests"] = ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
  headers["anthropic-ratelimit-requests-reset"] = `${new Date(now + ms).toISOString().slice(0, 19)}Z`;
}
