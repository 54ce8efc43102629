import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Logger } from "#lib/logger.ts";
import { watchStream } from "./watch-stream.ts";

/**
 * Hides internal errors from callers: any error other than a ConnectError is hidden and logged as a fault of the program, but
 * those that `explain` turns into a ConnectError for callers.
 */
export function hideErrors(log: Logger, explain: (error: unknown) => ConnectError | undefined): Interceptor {
  return (next) => async (request) => {
    const translate = (error: unknown): unknown => {
      if (error === undefined || error instanceof ConnectError) {
        return error;
      }
      // Once the caller has gone, a handler's errors follow from that.
      if (request.signal.aborted) {
        return ConnectError.from(request.signal.reason, Code.Canceled);
      }
      const explained = explain(error);
      if (explained === undefined) {
        log.error({ err: error, method: `${request.service.typeName}/${request.method.name}` }, "a call failed");
      }
      return explained ?? new ConnectError("internal error", Code.Internal, undefined, undefined, error);
    };
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: watchStream(response.message, translate) } : response;
    } catch (error) {
      throw translate(error);
    }
  };
}
