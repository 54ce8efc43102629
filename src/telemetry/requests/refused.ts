import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { RateLimitUse, rate_limit_use } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { reasonOfStatus } from "#lib/errors/surface-refusals.ts";
import type { PublicSurface } from "#lib/inference/surface-names.ts";
import type { RefusedRequest } from "#src/money/model/store/request.ts";
import type { EndedCall } from "#src/wire/interceptors/observation/observe.ts";

/** The status with which a surface answers a reason. */
export type StatusOf = (surface: PublicSurface, reason: Reason) => number;

/** A call as it is recorded. Undefined: it was not refused, or is none of a client's requests. */
export function toRefused(call: EndedCall, statusOf: StatusOf, at: number): RefusedRequest | undefined {
  const reason = findReason(call);
  if (reason === undefined || (call.surface === "grpc" && !isRequest(call.method))) {
    return undefined;
  }
  const { requestId, caller, surface, server, refusedStatus, ms } = call;
  return {
    requestId,
    accountId: caller?.account,
    keyId: caller?.keyId ?? "",
    surface,
    model: caller?.model ?? "",
    reason: Reason[reason],
    httpStatus: refusedStatus || (surface === "grpc" ? 0 : statusOf(surface, reason)),
    durationMs: Math.round(ms),
    server,
    leftOut: 0,
    at,
  };
}

function findReason({ reason, code, refusedStatus }: EndedCall): Reason | undefined {
  if (refusedStatus > 0) {
    return reasonOfStatus(refusedStatus);
  }
  const isFault = code === Code.Internal || code === Code.Unknown || code === Code.DataLoss;
  return reason ?? (isFault ? Reason.UNSPECIFIED : undefined);
}

const requests = new WeakMap<DescMethod, boolean>();

/** Whether calls of a method are requests that run or count, and no management. */
function isRequest(method: DescMethod): boolean {
  let found = requests.get(method);
  if (found === undefined) {
    const use = getOption(method, rate_limit_use);
    found = use === RateLimitUse.RUN || use === RateLimitUse.COUNT;
    requests.set(method, found);
  }
  return found;
}
