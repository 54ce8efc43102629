import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";

const reasons: ReadonlySet<Reason | undefined> = new Set([
  Reason.ACCOUNT_NOT_FOUND,
  Reason.MODEL_NOT_FOUND,
  Reason.INVALID_ARGUMENT,
]);

/** True when every later attempt would fail the same way, unless an operator changes something. */
export function isLasting(error: unknown): boolean {
  return reasons.has(readDetail(error)?.reason);
}
