import { Counter, type Registry } from "prom-client";
import { type WebhookObserver, webhookOutcomes } from "../payments/stripe-webhook.ts";

/** Counts payment events by their outcome. */
export function webhookMetrics(registry: Registry): WebhookObserver {
  const events = new Counter({
    name: "tollgate_webhook_events_total",
    help: "Events at the payment webhook by outcome: credited, ignored, refused for good, postponed, or unsigned.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // An alarm that first shows up as 1 has not increased.
  for (const outcome of webhookOutcomes) {
    events.inc({ outcome }, 0);
  }
  return (outcome) => events.inc({ outcome });
}
