import { Code, ConnectError, createContextKey, type Interceptor } from "@connectrpc/connect";
import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import { detailOf } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { watchStream } from "./watch-stream.ts";

/** The id that a handler found or made for its request, for the log. Empty: the call has none. */
export const requestIdKey = createContextKey("", { description: "request id" });

/** Writes one line a call when it is over; never a body, a header or a credential. */
export function logCalls(log: Logger, clock: Clock): Interceptor {
  return (next) => async (request) => {
    const started = clock.monotonic();
    const write = (error?: unknown): unknown => {
      // A stream that its caller left has no error of its own.
      const cause = error ?? (request.signal.aborted ? request.signal.reason : undefined);
      const code = cause === undefined ? undefined : ConnectError.from(cause).code;
      const reason = detailOf(cause)?.reason;
      const requestId = request.contextValues.get(requestIdKey);
      const line = {
        method: `${request.service.typeName}/${request.method.name}`,
        ...(requestId && { requestId }),
        code: code === undefined ? "OK" : Code[code],
        ...(reason !== undefined && { reason: Reason[reason] }),
        ms: Math.round((clock.monotonic() - started) * 10) / 10,
      };
      log[levelOf(code)](line, "call");
      return error;
    };
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: watchStream(response.message, write) };
      write();
      return response;
    } catch (error) {
      throw write(error);
    }
  };
}

function levelOf(code: Code | undefined): "info" | "warn" | "error" {
  switch (code) {
    case Code.Internal:
    case Code.Unknown:
    case Code.DataLoss:
      return "error"; // a bug
    case Code.Unavailable:
    case Code.DeadlineExceeded:
      return "warn"; // the operator may have to do something
    default:
      return "info";
  }
}
