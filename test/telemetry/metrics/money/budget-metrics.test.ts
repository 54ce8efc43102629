import { expect, test } from "@jest/globals";
import { Registry } from "prom-client";
import type { BudgetCounts } from "#src/money/thresholds/budget-census.ts";
import { budgetMetrics } from "#src/telemetry/metrics/money/budget-metrics.ts";

const none = { announced: { 0: 0, 80: 0, 100: 0 }, left: 0 };
const counts = (left: number): BudgetCounts => ({
  ...{ total: none, week: none, month: none },
  day: { announced: { 0: 3, 80: 2, 100: 1 }, left },
});

test("budgets are shown by the core alone that counts them", async () => {
  const registry = new Registry();
  const metrics = budgetMetrics(registry);
  const shown = async (name: string) =>
    new Map(
      ((await registry.getSingleMetric(name)?.get())?.values ?? []).map(({ labels, value }) => [
        Object.values(labels).join(" "),
        value,
      ]),
    );
  metrics.counted(counts(1e12));
  metrics.counted(counts(5e11));
  const budgets = await shown("tollgate_budgets");
  expect(["day 0", "day 80", "day 100", "month 100"].map((labels) => budgets.get(labels))).toEqual([3, 2, 1, 0]);
  expect(budgets.size).toBe(12);
  expect((await shown("tollgate_budget_left_usd")).get("day")).toBe(0.5);
  metrics.counted(undefined);
  expect((await shown("tollgate_budgets")).size + (await shown("tollgate_budget_left_usd")).size).toBe(0);
});
