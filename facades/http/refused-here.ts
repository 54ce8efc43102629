import type { ConnectError } from "@connectrpc/connect";
import type { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";

const refusals = new WeakSet<object>();

/** A refusal of which the core has not heard. `retryAfterSeconds`: when the caller may retry; absent: a retry is of no use. */
export function refusedHere(reason: Reason, message: string, retryAfterSeconds?: number): ConnectError {
  const retry = retryAfterSeconds !== undefined && { retryAfter: { seconds: BigInt(retryAfterSeconds) } };
  const refusal = failure(reason, message, { ...retry });
  refusals.add(refusal);
  return refusal;
}

/** Whether a surface made an error itself, without the core. */
export const isRefusedHere = (error: unknown): boolean => refusals.has(error as object);
