import { Counter, type Registry } from "prom-client";
import type { ToldPart } from "../../metering/thresholds/budget-events.ts";

/** Counts budgets of keys that come near their end, or to it. */
export function budgetMetrics(registry: Registry): (percent: ToldPart) => void {
  const crossings = new Counter({
    name: "tollgate_budget_crossings_total",
    help: "Budgets of keys of which so many percent were spent, once for each period of a budget.",
    labelNames: ["percent"],
    registers: [registry],
  });
  for (const percent of [80, 100] as const satisfies readonly ToldPart[]) {
    crossings.inc({ percent }, 0);
  }
  return (percent) => crossings.inc({ percent });
}
