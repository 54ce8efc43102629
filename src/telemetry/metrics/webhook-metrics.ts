import { Counter, type Registry } from "prom-client";
import { type WebhookObserver, webhookOutcomes } from "#src/checkout/webhook.ts";

/** Counts payment events by their outcome. */
export function webhookMetrics(registry: Registry): WebhookObserver {
  const events = new Counter({
    name: "tollgate_webhook_events_total",
    help: "Events at the payment webhook by outcome: credited, ignored, refused for good, postponed, or unsigned.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
  for (const outcome of webhookOutcomes) {
    events.inc({ outcome }, 0);
  }
  return (outcome) => events.inc({ outcome });
}
