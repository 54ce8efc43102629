import { Gauge, type Registry } from "prom-client";
import type { Status } from "./status.ts";
import { kinds } from "./trouble.ts";

/** Tells how many things of each kind are wrong, as the status lists them. */
export function statusMetrics(registry: Registry, status: Pick<Status, "read">): void {
  const gauge = new Gauge({
    name: "tollgate_troubles",
    help: "Things that somebody has to mend, as tollgate status lists them.",
    labelNames: ["what"],
    registers: [registry],
    collect() {
      const found = status.read();
      for (const kind of kinds) {
        gauge.set({ what: kind }, found.filter(({ what }) => what === kind).length);
      }
    },
  });
}
