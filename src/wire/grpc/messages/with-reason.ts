import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";

/**
 * The error of a message that could not be received, with the reason that its caller, the log and the record know. The
 * libraries that receive messages give a code alone.
 */
export function withReason(error: ConnectError): ConnectError {
  if (readDetail(error) !== undefined) {
    return error;
  }
  switch (error.code) {
    case Code.ResourceExhausted:
      return failure(Reason.REQUEST_TOO_LARGE, error.rawMessage, {}, error);
    case Code.InvalidArgument:
      return failure(Reason.INVALID_ARGUMENT, error.rawMessage, {}, error);
    default:
      return error;
  }
}

/** Gives the errors of a stream's messages their reasons. */
export const explainMessages: Interceptor = (next) => (request) =>
  request.stream ? next({ ...request, message: explain(request.message) }) : next(request);

async function* explain<M>(messages: AsyncIterable<M>): AsyncGenerator<M> {
  try {
    yield* messages;
  } catch (error) {
    throw error instanceof ConnectError ? withReason(error) : error;
  }
}
