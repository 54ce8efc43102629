/** Where a request stands in a distributed trace, as the headers that W3C Trace Context sends. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}
