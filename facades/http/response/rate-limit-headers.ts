import type { RateLimitStatus } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { toMilliseconds } from "../../../lib/time/duration.ts";

/** Adds what both vendors' clients read of a rate limit: `x-ratelimit-*` and `anthropic-ratelimit-*`. */
export function addRateLimit(headers: Record<string, string>, status: RateLimitStatus, now: number): void {
  const ms = status.resetAfter === undefined ? 0 : toMilliseconds(status.resetAfter);
  headers["x-ratelimit-limit-requests"] = headers["anthropic-ratelimit-requests-limit"] = String(status.limit);
  headers["x-ratelimit-remaining-requests"] = headers["anthropic-ratelimit-requests-remaining"] = String(
    status.remaining,
  );
  headers["x-ratelimit-reset-requests"] = ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
  headers["anthropic-ratelimit-requests-reset"] = `${new Date(now + ms).toISOString().slice(0, 19)}Z`;
}
