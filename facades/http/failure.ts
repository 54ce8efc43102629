import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, ErrorDetailSchema, type Reason } from "#gen/errors/v1/error_detail_pb.js";

/**
 * A request that a facade itself refuses, in the form of the core's own errors, so that a surface has
 * one kind of error to translate. The parameter is the field's path in the caller's terms: "tools[2].type".
 */
export function failure(
  reason: Reason.INVALID_ARGUMENT | Reason.UNSUPPORTED,
  message: string,
  parameter: string,
): ConnectError {
  return new ConnectError(message, Code.InvalidArgument, undefined, [
    { desc: ErrorDetailSchema, value: { reason, parameter } },
  ]);
}

/** The typed detail of an error of the core or of a facade. Undefined: the error is a bug or the transport's. */
export function detailOf(error: unknown): ErrorDetail | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0] : undefined;
}
