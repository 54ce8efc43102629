import { Counter, type Registry } from "prom-client";

/** Counts changes that are not in the audit log. */
export function auditMetrics(registry: Registry): () => void {
  const lost = new Counter({
    name: "tollgate_audit_lost_total",
    help: "Changes that operators made and that could not be noted in the audit log.",
    registers: [registry],
  });
  return () => lost.inc();
}
