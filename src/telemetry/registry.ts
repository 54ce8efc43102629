import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { isReady, type Readiness } from "./admin-server.ts";

/** The metrics of a process. They begin with its own: memory, CPU, event loop, and whether it is ready. */
export function createRegistry(readiness: Readiness): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
