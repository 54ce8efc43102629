import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Logger } from "../../lib/logger.ts";
import { watchStream } from "./watch-stream.ts";

/**
 * Keeps what was not meant for callers from them: any other error than a ConnectError is logged and hidden.
 * `explain` gives those that callers may know of a form for them.
 */
export function hideErrors(log: Logger, explain: (error: unknown) => ConnectError | undefined): Interceptor {
  return (next) => async (request) => {
    const translate = (error: unknown): unknown => {
      if (error === undefined || error instanceof ConnectError) {
        return error;
      }
      // Whatever a handler trips over once its caller is gone follows from that.
      if (request.signal.aborted) {
        return ConnectError.from(request.signal.reason, Code.Canceled);
      }
      log.error({ err: error, method: `${request.service.typeName}/${request.method.name}` }, "a call failed");
      return explain(error) ?? new ConnectError("internal error", Code.Internal, undefined, undefined, error);
    };
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: watchStream(response.message, translate) } : response;
    } catch (error) {
      throw translate(error);
    }
  };
}
