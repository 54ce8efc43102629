import { Counter, Gauge, type Registry } from "prom-client";

/** Measures the public surfaces. Returns the observer of every HTTP exchange. */
export function httpMetrics(registry: Registry) {
  const registers = [registry];
  const responses = new Counter({
    name: "tollgate_http_responses_total",
    help: "HTTP exchanges that are over, by status; 499: the client left before there was one.",
    labelNames: ["status"],
    registers,
  });
  const open = new Gauge({
    name: "tollgate_http_requests_open",
    help: "HTTP exchanges that are under way.",
    registers,
  });
  const streams = new Gauge({ name: "tollgate_http_streams_open", help: "Event streams among them.", registers });
  const refused = new Counter({
    name: "tollgate_http_refused_total",
    help: "Clients that were refused or cut off to keep room for others, by reason.",
    labelNames: ["reason"],
    registers,
  });
  return {
    refused: (reason: string): void => refused.inc({ reason }),
    opened: (): void => open.inc(),
    streamed: (): void => streams.inc(),
    closed(status: number | undefined, isStream: boolean): void {
      open.dec();
      if (isStream) {
        streams.dec();
      }
      responses.inc({ status: status ?? 499 });
    },
  };
}
