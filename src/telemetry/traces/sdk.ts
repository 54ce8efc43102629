import type { Tracer } from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "#lib/logger.ts";

/** A tracer whose spans go to the collector that the variables OTEL_EXPORTER_OTLP_… name. */
export interface ExportingTracer {
  readonly tracer: Tracer;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** Starts the SDK with the settings of OpenTelemetry's environment variables. */
export function exportingTracer(env: NodeJS.ProcessEnv, logger: Logger): ExportingTracer {
  setGlobalErrorHandler((error) => logger.warn({ error: String(error) }, "spans could not be exported"));
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": "tollgate" }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: toSampler(env),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  return { tracer: provider.getTracer("tollgate"), close: () => provider.shutdown() };
}

/** The sampler of OTEL_TRACES_SAMPLER and its argument. Throws for a name that OpenTelemetry does not define. */
export function toSampler(env: NodeJS.ProcessEnv): Sampler {
  const ratio = () => new TraceIdRatioBasedSampler(Number(env.OTEL_TRACES_SAMPLER_ARG ?? "1"));
  const name = env.OTEL_TRACES_SAMPLER ?? "parentbased_always_on";
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return ratio();
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: ratio() });
    default:
      throw new Error(`OTEL_TRACES_SAMPLER is ${name}, which OpenTelemetry does not name`);
  }
}
