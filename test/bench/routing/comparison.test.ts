import { expect, test } from "@jest/globals";
import { judgeFigures } from "../report/budgets.ts";
import { type Comparison, comparisonFigures, comparisonPlots } from "./comparison.ts";

const outcome = { requests: 100, hitRate: 0.6, p50: 60, p99: 200, imbalance: 1.1 };
const worse = { ...outcome, hitRate: 0.2, p99: 100 };
const comparisons: Comparison[] = [
  { load: "multi-turn chats", routing: "prefix", outcomes: [outcome, { ...outcome, imbalance: 1.6 }] },
  { load: "multi-turn chats", routing: "least-load", outcomes: [worse, worse] },
  { load: "random prompts", routing: "prefix", outcomes: [outcome] },
  { load: "random prompts", routing: "least-load", outcomes: [worse] },
];

test("judges prefix routing beside least load, seed by seed", () => {
  const verdicts = judgeFigures(comparisonFigures(comparisons)).map(({ cell, measured, held }) => [
    cell,
    Number(measured.toFixed(2)),
    held,
  ]);
  expect(verdicts).toEqual([
    ["multi-turn chats, prefix: work of the busiest server", 1.35, false],
    ["random prompts, prefix: work of the busiest server", 1.1, true],
    ["multi-turn chats: prompt tokens found in the cache", 3, true],
    ["random prompts: first token p50", 1, true],
    ["random prompts: first token p99", 2, false],
    ["random prompts: work of the busiest server", 1, true],
  ]);
});

test("draws the cache hits and the waits of every policy", () => {
  const plots = comparisonPlots(comparisons);
  expect([...plots.keys()]).toEqual(["routing/cache", "routing/first-token"]);
  for (const svg of plots.values()) {
    expect(svg).toContain("least-load");
  }
});
