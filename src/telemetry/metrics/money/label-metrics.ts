import { Counter, type Registry } from "prom-client";
import type { LabelObserver } from "#src/money/labels/labels.ts";

/** Counts values of attribution labels that could not be kept. */
export function labelMetrics(registry: Registry): LabelObserver {
  const others = new Counter({
    name: "tollgate_label_values_other_total",
    help: "Values of attribution labels that were recorded as other, since their account had used too many that day (values), or for their length or characters (form).",
    labelNames: ["name", "reason"],
    registers: [registry],
  });
  return (name, reason) => others.inc({ name, reason });
}
