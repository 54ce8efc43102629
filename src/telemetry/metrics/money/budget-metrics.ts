import { Counter, Gauge, type Registry } from "prom-client";
import { type BudgetPeriod, budgetPeriods } from "#lib/limits/budget-period.ts";
import type { BudgetCounts } from "#src/money/thresholds/budget-census.ts";
import { type AnnouncedPercent, announcedPercents } from "#src/money/thresholds/budget-events.ts";

const picosAUsd = 1e12;

/** Observes the budgets of keys. */
export interface BudgetObserver {
  /** This percentage of a key's budget is spent; reported once in each period. */
  crossed(percent: AnnouncedPercent): void;
  /** The counts of all budgets. Undefined: another core counts them. */
  counted(counts: BudgetCounts | undefined): void;
}

/** Counts budgets of keys that are nearly or fully spent, and shows the state of all budgets. */
export function budgetMetrics(registry: Registry): BudgetObserver {
  const crossings = new Counter({
    name: "tollgate_budget_crossings_total",
    help: "Budgets of keys of which so many percent were spent, once for each period of a budget.",
    labelNames: ["percent"],
    registers: [registry],
  });
  for (const percent of announcedPercents) {
    crossings.inc({ percent }, 0);
  }
  const budgets = new Gauge({
    name: "tollgate_budgets",
    help: "Budgets of live keys by their period, and by how much of it is spent: under 80 percent (0), 80, or all (100).",
    labelNames: ["per", "percent"],
    registers: [registry],
  });
  const left = new Gauge({
    name: "tollgate_budget_left_usd",
    help: "The most that live keys with budgets may still spend in their running periods, in USD, by period.",
    labelNames: ["per"],
    registers: [registry],
  });
  const show = (per: BudgetPeriod, { announced, left: most }: BudgetCounts[BudgetPeriod]) => {
    for (const percent of [0, ...announcedPercents] as const) {
      budgets.set({ per, percent }, announced[percent]);
    }
    left.set({ per }, most / picosAUsd);
  };
  return {
    crossed: (percent) => crossings.inc({ percent }),
    counted(counts) {
      budgets.reset();
      left.reset();
      if (counts !== undefined) {
        for (const per of budgetPeriods) {
          show(per, counts[per]);
        }
      }
    },
  };
}
