import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { isReady, type Readiness } from "../admin-server.ts";

/** Gauges of prom-client with the ending of counters, which promtool refuses. Others have the same by type. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** The metrics of a process. They begin with its own: memory, CPU, event loop, and whether it is ready. */
export function createRegistry(readiness: Readiness): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) {
    registry.removeSingleMetric(name);
  }
  new Gauge({
    name: "tollgate_ready",
    help: "Whether the process wants traffic: 1, or 0 while it starts or drains, or has lost its database's file.",
    registers: [registry],
    collect() {
      this.set(isReady(readiness) ? 1 : 0);
    },
  });
  return registry;
}
