import { Counter, type Registry } from "prom-client";
import type { Outcome } from "#src/services/status/availability/outcome.ts";

/** Counts requests for output as listings of providers judge them. */
export function providerMetrics(registry: Registry): (outcome: Outcome) => void {
  const requests = new Counter({
    name: "tollgate_provider_requests_total",
    help: "Requests as OpenRouter counts availability: served, failed (5xx, or in the middle of a stream), or refused (401, 402, 404).",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
  for (const outcome of ["served", "failed", "refused"]) {
    requests.inc({ outcome }, 0);
  }
  return (outcome) => requests.inc({ outcome });
}
