import { Counter, Gauge, type Registry } from "prom-client";
import type { DeliveryObserver } from "#src/delivery/webhooks/dispatcher.ts";

/** Counts deliveries of events by outcome. */
export function deliveryMetrics(registry: Registry): DeliveryObserver {
  const attempts = new Counter({
    name: "tollgate_event_deliveries_total",
    help: "Attempts to deliver events by outcome: delivered, retried later, or failed for good after three days.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
  for (const outcome of ["delivered", "retried", "failed"]) {
    attempts.inc({ outcome }, 0);
  }
  const waiting = new Gauge({
    name: "tollgate_event_backlog",
    help: "Deliveries of events that wait, as the core knows that makes them.",
    registers: [registry],
  });
  const age = new Gauge({
    name: "tollgate_event_backlog_age_seconds",
    help: "Age of the oldest event that waits for its delivery.",
    registers: [registry],
  });
  return {
    attempted: (outcome) => attempts.inc({ outcome }),
    backlog(count, oldestMs) {
      waiting.set(count);
      age.set(oldestMs / 1000);
    },
  };
}
