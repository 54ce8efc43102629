import { ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, ErrorDetailSchema } from "#gen/errors/v1/error_detail_pb.js";

/** The typed detail of an error of the core. Undefined: the error is a bug or the transport's. */
export function detailOf(error: unknown): ErrorDetail | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0] : undefined;
}

/**
 * The `retry-after` header, where a retry can succeed: whole seconds from 1 to 59. The AI SDK and older messages SDKs
 * take no notice of 60, and then use their attempts up within seconds.
 */
export function retryAfterHeader({ retryAfter }: ErrorDetail): Record<string, string> {
  if (retryAfter === undefined) return {};
  const seconds = Number(retryAfter.seconds) + (retryAfter.nanos > 0 ? 1 : 0);
  return { "retry-after": String(Math.min(Math.max(seconds, 1), 59)) };
}
