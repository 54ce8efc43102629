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
import type { TraceContext } from "../../../lib/rpc/trace-context.ts";

/** A running span, and its context for children. */
export interface StartedSpan {
  readonly span: Span;
  /** Undefined: the tracer makes no spans any more. */
  readonly context: TraceContext | undefined;
}

const propagator = new W3CTraceContextPropagator();

/** Starts a span below the one that headers tell of; of a new trace when they tell of none. */
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
