import { Gauge, type Registry } from "prom-client";
import type { BoundedIntake } from "#lib/overload/intake.ts";
import type { OverloadMonitor, Shortage } from "#lib/overload/monitor.ts";

const shortages: readonly Shortage[] = ["event_loop", "memory"];

/** Shows whether a process refuses new requests because of overload, how long they wait, and how full its memory is. */
export function watchOverload(registry: Registry, monitor: OverloadMonitor, intake: BoundedIntake): void {
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
    name: "tollgate_requests_waiting",
    help: "Requests that wait for their turn to begin, because more come than one turn of the event loop takes in.",
    registers: [registry],
    collect() {
      this.set(intake.waiting);
    },
  });
  new Gauge({
    name: "tollgate_requests_waiting_seconds",
    help: "How long the one that came first has waited. Beyond max_wait_ms new ones of its network are refused.",
    registers: [registry],
    collect() {
      this.set(intake.waitMs / 1000);
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
