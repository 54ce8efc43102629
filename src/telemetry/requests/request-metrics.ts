import { Counter, type Registry } from "prom-client";
import { type DropReason, dropReasons } from "./recorder.ts";

/** Counts refused requests that are not in the record. */
export function requestMetrics(registry: Registry): (reason: DropReason, count: number) => void {
  const dropped = new Counter({
    name: "tollgate_request_records_dropped_total",
    help: "Refused requests left out of the record: sampled: like ones were enough; full: too many waited; store: the database took none.",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of dropReasons) {
    dropped.inc({ reason }, 0); // so that the first shows as an increase
  }
  return (reason, count) => dropped.inc({ reason }, count);
}
