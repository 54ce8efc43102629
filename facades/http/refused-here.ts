import type { ConnectError } from "@connectrpc/connect";
import type { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";

const refusals = new WeakSet<object>();

/** A refusal of which the core has not heard, with the seconds after which the caller may retry. */
export function refusedHere(reason: Reason, message: string, retryAfterSeconds: number): ConnectError {
  const refusal = failure(reason, message, { retryAfter: { seconds: BigInt(retryAfterSeconds) } });
  refusals.add(refusal);
  return refusal;
}

/** Whether a surface made an error itself, without the core. */
export const isRefusedHere = (error: unknown): boolean => refusals.has(error as object);
