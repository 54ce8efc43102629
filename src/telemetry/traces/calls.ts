import { Code, type ContextValues, type Interceptor } from "@connectrpc/connect";
import { type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { requestIdKey } from "#src/wire/grpc/call-id.ts";
import { runIdKey, toOutcome } from "#src/wire/interceptors/observation/observe.ts";
import { traceContextKey } from "#src/wire/interceptors/trace-context.ts";
import { watchStream } from "#src/wire/interceptors/watch-stream.ts";
import { startSpan } from "./span.ts";

/** Makes a span for every call to the core, as a child of the span in its metadata. */
export function traceCalls(tracer: Tracer): Interceptor {
  return (next) => async (request) => {
    const [service, method] = [request.service.typeName, request.method.name];
    const attributes = { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method };
    const { span, context } = startSpan(
      tracer,
      `${service}/${method}`,
      { kind: SpanKind.SERVER, attributes },
      {
        traceparent: request.header.get("traceparent") ?? undefined,
        tracestate: request.header.get("tracestate") ?? undefined,
      },
    );
    request.contextValues.set(traceContextKey, context);
    const end = (error?: unknown): unknown => {
      nameIds(span, request.contextValues);
      tellOutcome(span, toOutcome(error, request.signal));
      span.end();
      return error;
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: watchStream(response.message, end) };
      }
      end();
      return response;
    } catch (error) {
      throw end(error);
    }
  };
}

function nameIds(span: Span, values: ContextValues): void {
  const requestId = values.get(requestIdKey);
  if (requestId !== "") {
    span.setAttribute("tollgate.request_id", requestId);
  }
  const runId = values.get(runIdKey);
  if (runId !== "") {
    span.setAttribute("tollgate.run_id", runId);
  }
}

function tellOutcome(span: Span, { code, reason }: ReturnType<typeof toOutcome>): void {
  span.setAttribute("rpc.grpc.status_code", code ?? 0);
  if (code === undefined) {
    return;
  }
  span.setAttribute("error.type", reason === undefined ? Code[code] : Reason[reason]);
  if (isServersFault(code)) {
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

/** Codes that the conventions for gRPC count as errors of the server rather than of its caller. */
function isServersFault(code: Code): boolean {
  switch (code) {
    case Code.Unknown:
    case Code.DeadlineExceeded:
    case Code.Unimplemented:
    case Code.Internal:
    case Code.Unavailable:
    case Code.DataLoss:
      return true;
    default:
      return false;
  }
}
