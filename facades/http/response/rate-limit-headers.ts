import type { RateLimitState, TokenLimitState } from "#lib/rpc/rate-limit.ts";

/** Adds the rate-limit headers of both vendors' clients: `x-ratelimit-*` and `anthropic-ratelimit-*`. */
export function addRateLimit(headers: Record<string, string>, state: RateLimitState, now: number): void {
  add(headers, "requests", state, now);
  if (state.tokens !== undefined) {
    add(headers, "tokens", state.tokens, now);
  }
}

function add(
  headers: Record<string, string>,
  what: "requests" | "tokens",
  { limit, remaining, resetAfterMs }: TokenLimitState,
  now: number,
): void {
  const ms = Math.ceil(resetAfterMs);
  headers[`x-ratelimit-limit-${what}`] = headers[`anthropic-ratelimit-${what}-limit`] = String(limit);
  headers[`x-ratelimit-remaining-${what}`] = headers[`anthropic-ratelimit-${what}-remaining`] = String(remaining);
  headers[`x-ratelimit-reset-${what}`] = ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
  headers[`anthropic-ratelimit-${what}-reset`] = `${new Date(now + ms).toISOString().slice(0, 19)}Z`;
}
