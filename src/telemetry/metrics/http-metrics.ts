import { Gauge, type Registry } from "prom-client";
import { TalliedCounter } from "../tallies/counter.ts";

/** Measures the public surfaces. Returns the observer of every HTTP exchange. */
export function httpMetrics(registry: Registry) {
  const registers = [registry];
  const responses = new TalliedCounter({
    name: "tollgate_http_responses_total",
    help: "HTTP exchanges that are over, by status; 499: the client left before there was one.",
    labelNames: ["status"],
    registers,
  });
  let open = 0;
  let streams = 0;
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge("tollgate_http_requests_open", "HTTP exchanges that are under way.", () => open);
  gauge("tollgate_http_streams_open", "Event streams among them.", () => streams);
  return {
    opened(): void {
      open += 1;
    },
    streamed(): void {
      streams += 1;
    },
    closed(status: number | undefined, isStream: boolean): void {
      open -= 1;
      if (isStream) {
        streams -= 1;
      }
      responses.add(1, status ?? 499);
    },
  };
}
