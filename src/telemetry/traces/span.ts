import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { TraceContext } from "#lib/rpc/trace-context.ts";

/** A running span, and its context for children. */
export interface StartedSpan {
  readonly span: Span;
  /** Undefined: the tracer no longer makes spans. */
  readonly context: TraceContext | undefined;
}

const propagator = new W3CTraceContextPropagator();

/** Starts a span as a child of the span in the headers, or of a new trace when they name none. */
export function startSpan(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  headers: { readonly [Name in keyof TraceContext]?: string | undefined },
): StartedSpan {
  const span = tracer.startSpan(name, options, propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter));
  const context: { traceparent?: string; tracestate?: string } = {};
  propagator.inject(trace.setSpan(ROOT_CONTEXT, span), context, defaultTextMapSetter);
  const { traceparent, tracestate } = context;
  if (traceparent === undefined) {
    return { span, context: undefined };
  }
  return { span, context: tracestate === undefined ? { traceparent } : { traceparent, tracestate } };
}
