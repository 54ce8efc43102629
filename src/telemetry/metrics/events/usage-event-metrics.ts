import { Counter, Gauge, type Registry } from "prom-client";
import type { UsageEventsObserver } from "#src/delivery/usage/usage-sender.ts";

/** Counts usage events on their way to the receiver. */
export function usageEventMetrics(registry: Registry): UsageEventsObserver {
  const events = new Counter({
    name: "tollgate_usage_events_total",
    help: "Usage events by outcome: taken by the receiver, or dropped because it did not take them in time.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
  for (const outcome of ["taken", "dropped"]) {
    events.inc({ outcome }, 0);
  }
  const refused = new Counter({
    name: "tollgate_usage_event_failures_total",
    help: "Batches of usage events that the receiver did not take; they are sent again.",
    registers: [registry],
  });
  const waiting = new Gauge({
    name: "tollgate_usage_event_backlog",
    help: "Usage events that wait, as the core knows that sends them.",
    registers: [registry],
  });
  const age = new Gauge({
    name: "tollgate_usage_event_backlog_age_seconds",
    help: "Age of the oldest usage event that waits.",
    registers: [registry],
  });
  return {
    taken: (count) => events.inc({ outcome: "taken" }, count),
    refused: () => refused.inc(),
    dropped: (count) => events.inc({ outcome: "dropped" }, count),
    backlog(count, oldestMs) {
      waiting.set(count);
      age.set(oldestMs / 1000);
    },
  };
}
