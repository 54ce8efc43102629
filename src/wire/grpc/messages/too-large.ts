import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { maxRequestBytes } from "./limits.ts";

/** REQUEST_TOO_LARGE for a message of this many bytes. A body within its own bound may grow in translation. */
export function requestTooLarge(bytes: number): ConnectError {
  const message = `The request is too large: ${bytes} bytes after translation, of ${maxRequestBytes} at most.`;
  return failure(Reason.REQUEST_TOO_LARGE, message);
}
