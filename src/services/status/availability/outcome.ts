import { Code } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** What a request that is over says of the service's availability. */
export type Outcome = "served" | "failed" | "refused";

/** Reasons that clients meet as 401, 402 or 404. */
const refused: ReadonlySet<Reason> = new Set([
  Reason.UNAUTHENTICATED,
  Reason.MODEL_NOT_FOUND,
  Reason.MODEL_KIND_MISMATCH,
  Reason.RECEIPT_NOT_FOUND,
]);

/** Reasons that clients meet as 5xx, or as an error in the middle of a stream. */
const failed: ReadonlySet<Reason> = new Set([
  Reason.UNSPECIFIED,
  Reason.ENGINE_FAILED,
  Reason.OVERLOADED,
  Reason.SHUTTING_DOWN,
  Reason.LEDGER_UNAVAILABLE,
  Reason.NO_SERVER,
  Reason.TIMEOUT,
  Reason.ARCHIVE_CHANGED,
]);

/** Undefined: it does not count, such as a request that is wrong or over a limit, or that its client left. */
export function toOutcome(code: Code | undefined, reason: Reason | undefined): Outcome | undefined {
  if (code === undefined) {
    return "served";
  }
  if (reason === undefined) {
    return code === Code.Canceled ? undefined : "failed";
  }
  if (failed.has(reason)) {
    return "failed";
  }
  return refused.has(reason) ? "refused" : undefined;
}
