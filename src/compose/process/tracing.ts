import type { Tracer } from "@opentelemetry/api";
import type { Registry } from "prom-client";
import type { BoundName, ListenerName } from "#lib/door/bounds.ts";
import type { Logger } from "#lib/logger.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The metrics and traces of a process. */
export interface Telemetry {
  readonly registry: Registry;
  /** Undefined: nothing is traced, which costs nothing. */
  readonly tracer: Tracer | undefined;
  /** Counts a client that is refused to keep room for others. Undefined: nobody counts it. */
  readonly refused?: (listener: ListenerName, bound: BoundName) => void;
}

/** Exports traces if OpenTelemetry's environment variables name a collector. Otherwise loads nothing. */
export async function startTracing(lifecycle: Lifecycle, logger: Logger): Promise<Tracer | undefined> {
  const { env } = process;
  if (!(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)) {
    return undefined;
  }
  const { exportingTracer } = await import("#src/telemetry/traces/sdk.ts");
  const { tracer, close } = exportingTracer(env, logger);
  lifecycle.onStop("traces", close);
  return tracer;
}
