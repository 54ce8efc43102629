import { Gauge, type Registry } from "prom-client";
import type { OverloadMonitor, Shortage } from "#lib/overload/monitor.ts";

const shortages: readonly Shortage[] = ["event_loop", "memory"];

/** Shows whether a process refuses new requests because of overload, and how full its memory is. */
export function watchOverload(registry: Registry, monitor: OverloadMonitor): void {
  new Gauge({
    name: "tollgate_overloaded",
    help: "1 while new requests are refused, by what the process is short of: event_loop or memory.",
    labelNames: ["shortage"],
    registers: [registry],
    collect() {
      for (const shortage of shortages) {
        this.set({ shortage }, monitor.shortage === shortage ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: "tollgate_memory_used_ratio",
    help: "Part of its memory that the process uses: of its heap or of the machine's, whichever is fuller.",
    registers: [registry],
    collect() {
      this.set(monitor.memory);
    },
  });
}
