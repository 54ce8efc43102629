import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";

/** A guess of when the ledger's database or journal works again. */
const retryMs = 1000;

/** LEDGER_UNAVAILABLE with a retry delay: no request was run. */
export function unavailable(message: string, cause?: unknown): ConnectError {
  return failure(Reason.LEDGER_UNAVAILABLE, message, { retryAfter: toDuration(retryMs) }, cause);
}
