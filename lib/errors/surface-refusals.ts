import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

const reasons: Readonly<Record<number, Reason>> = {
  401: Reason.UNAUTHENTICATED,
  403: Reason.PERMISSION_DENIED,
  404: Reason.UNSUPPORTED,
  405: Reason.UNSUPPORTED,
  408: Reason.TIMEOUT,
  410: Reason.UNAUTHENTICATED, // a link that was used
  413: Reason.REQUEST_TOO_LARGE,
  429: Reason.RATE_LIMITED,
  503: Reason.OVERLOADED,
  529: Reason.OVERLOADED,
};

/** The reason behind a status with which a surface, or a port, itself refuses a request. */
export function reasonOfStatus(status: number): Reason {
  return reasons[status] ?? Reason.INVALID_ARGUMENT;
}
