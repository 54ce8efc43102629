import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";

/** Why a process that has more work than it can do refuses a call. */
export function overloaded(): ConnectError {
  const what = "The service has more work than it can do at the moment.";
  return failure(Reason.OVERLOADED, what, { retryAfter: { seconds: 5n } });
}
