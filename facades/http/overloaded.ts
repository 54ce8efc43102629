import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";

/** A refusal for want of room; the caller may come again after so many seconds. */
export function overloaded(message: string, retryAfterSeconds: number): ConnectError {
  return failure(Reason.OVERLOADED, message, { retryAfter: { seconds: BigInt(retryAfterSeconds) } });
}
