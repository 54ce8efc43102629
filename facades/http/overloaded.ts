import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";

/** A refusal for lack of room, with the seconds after which the caller may retry. */
export function overloaded(message: string, retryAfterSeconds: number): ConnectError {
  return failure(Reason.OVERLOADED, message, { retryAfter: { seconds: BigInt(retryAfterSeconds) } });
}
