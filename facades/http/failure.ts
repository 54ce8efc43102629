import { ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, ErrorDetailSchema } from "#gen/errors/v1/error_detail_pb.js";

/** The typed detail of an error of the core. Undefined: the error is a bug, or the transport's. */
export function detailOf(error: unknown): ErrorDetail | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0] : undefined;
}
