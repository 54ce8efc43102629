import { Counter, Gauge, type Registry } from "prom-client";
import type { RetentionObserver } from "#src/money/retention/retention.ts";

/** Measures the removal of old receipts from the books. */
export function retentionMetrics(registry: Registry): RetentionObserver {
  const registers = [registry];
  const removed = new Counter({
    name: "tollgate_receipts_removed_total",
    help: "Receipts that were removed from the books after they were archived.",
    registers,
  });
  const keptFrom = new Gauge({
    name: "tollgate_receipts_kept_from_timestamp_seconds",
    help: "The moment from which all receipts are in the books; 0: of all times. Absent where none are ever removed.",
    registers,
  });
  keptFrom.remove();
  const overdue = new Gauge({
    name: "tollgate_receipts_overdue_seconds",
    help: "For how long the oldest receipts should have been archived already. Absent where none are ever removed.",
    registers,
  });
  overdue.remove();
  return {
    removed: (receipts) => removed.inc(receipts),
    looked(from, overdueMs) {
      keptFrom.set(from / 1000);
      overdue.set(overdueMs / 1000);
    },
  };
}
