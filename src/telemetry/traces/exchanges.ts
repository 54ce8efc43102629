import type { IncomingMessage } from "node:http";
import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { TraceContext } from "#lib/rpc/trace-context.ts";
import { startSpan } from "./span.ts";

/** Makes a span for an HTTP exchange, as a child of the span in the client's headers. */
export function traceExchanges(tracer: Tracer) {
  return ({ method = "", headers }: IncomingMessage) => {
    const { traceparent, tracestate } = headers;
    const { span, context } = startSpan(
      tracer,
      method,
      { kind: SpanKind.SERVER, attributes: { "http.request.method": method } },
      {
        traceparent: typeof traceparent === "string" ? traceparent : undefined,
        tracestate: typeof tracestate === "string" ? tracestate : undefined,
      },
    );
    return {
      headers: context satisfies TraceContext | undefined,
      end(requestId: string, route: string | undefined, status: number | undefined): void {
        span.setAttribute("tollgate.request_id", requestId);
        if (route !== undefined) {
          span.updateName(`${method} ${route}`).setAttribute("http.route", route);
        }
        if (status !== undefined) {
          span.setAttribute("http.response.status_code", status);
        }
        if (status !== undefined && status >= 500) {
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
}
