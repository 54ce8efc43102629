import { ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, ErrorDetailSchema } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** The typed detail of an error of the core. Undefined: the error is a bug or the transport's. */
export function detailOf(error: unknown): ErrorDetail | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0] : undefined;
}

/**
 * When a retry can succeed, as whole seconds from 1 to 60 that every client reads. The AI SDK and older messages SDKs
 * disregard 60 and use their attempts up within seconds: for them the last second comes as milliseconds too.
 */
export function retryAfterHeader({ retryAfter }: ErrorDetail): Record<string, string> {
  if (retryAfter === undefined) return {};
  const ms = Number(retryAfter.seconds) * 1000 + Math.ceil(retryAfter.nanos / 1e6);
  const seconds = Math.min(Math.max(Math.ceil(ms / 1000), 1), 60);
  if (seconds < 60) return { "retry-after": String(seconds) };
  return { "retry-after": "60", "retry-after-ms": String(Math.min(ms, 59_999)) };
}
