import { ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, ErrorDetailSchema } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** The typed detail of an error, whether it was thrown here or came over the wire. Undefined: the error is a bug. */
export function detailOf(error: unknown): ErrorDetail | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0] : undefined;
}
