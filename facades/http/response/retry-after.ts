import type { ErrorDetail } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { toMilliseconds } from "#lib/time/duration.ts";

/**
 * When a retry can succeed, in whole seconds from 1 to 60, which every client reads. The AI SDK and older messages SDKs
 * ignore 60 and use up their attempts within seconds, so for them 60 is also sent as milliseconds, at most 59,999.
 */
export function retryAfterHeader({ retryAfter }: ErrorDetail): Record<string, string> {
  if (retryAfter === undefined) {
    return {};
  }
  const ms = toMilliseconds(retryAfter);
  const seconds = Math.min(Math.max(Math.ceil(ms / 1000), 1), 60);
  if (seconds < 60) {
    return { "retry-after": String(seconds) };
  }
  return { "retry-after": "60", "retry-after-ms": String(Math.min(ms, 59_999)) };
}
