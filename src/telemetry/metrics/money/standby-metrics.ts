import { Counter, Gauge, type Registry } from "prom-client";
import type { StandbyObserver } from "#src/storage/postgresql/standby.ts";

/** Measures where long reads were answered. */
export function standbyMetrics(registry: Registry): StandbyObserver {
  const registers = [registry];
  const reads = new Counter({
    name: "tollgate_long_reads_total",
    help: "Long reads of a service with storage.read_url, by who answered: the standby, or the primary in its place.",
    labelNames: ["from"],
    registers,
  });
  const age = new Gauge({
    name: "tollgate_standby_age_seconds",
    help: "How old the state was that the standby last told. Absent until it was read.",
    registers,
  });
  age.remove();
  return {
    readStandby(ageMs) {
      reads.inc({ from: "standby" });
      age.set(ageMs / 1000);
    },
    readPrimary: () => reads.inc({ from: "primary" }),
  };
}
