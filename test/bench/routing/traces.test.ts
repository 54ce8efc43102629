import { expect, test } from "@jest/globals";
import { type TraceOutcome, traceFigures, tracePlots } from "./traces.ts";

const outcome = {
  ...{ requests: 100, hits: 0.9, p50: 200, p99: 12_000, good: 0.85, imbalance: 1.05 },
  ...{ busy: 0.9, refused: 0, bytesPerS: 0 },
};
const found: TraceOutcome[] = [
  { load: "recorded agents", way: "prefix", outcomes: [outcome, { ...outcome, good: 0.8 }] },
  { load: "recorded agents", way: "prefix, 8 cores", outcomes: [outcome] },
  { load: "recorded agents, accounts of their own", way: "prefix", outcomes: [{ ...outcome, hits: 0.86 }] },
  { load: "made-up agents", way: "prefix", outcomes: [outcome] },
];

test("limits what recorded traces come to on one core", () => {
  const limited = traceFigures(found).flatMap(({ name, value, limit }) =>
    limit === undefined ? [] : [[name, Number(value.median.toFixed(2)), limit]],
  );
  expect(limited).toEqual([
    ["recorded agents, prefix: prompt tokens found in the cache", 90, 88],
    ["recorded agents, prefix: good requests", 82.5, 81.5],
    ["recorded agents, prefix: first token p99", 12_000, 30_000],
    ["recorded agents, prefix: work of the busiest server", 1.05, 1.3],
    ["recorded agents, accounts of their own, prefix: good requests", 85, 81.5],
    ["recorded agents, accounts of their own, prefix: first token p99", 12_000, 30_000],
    ["recorded agents, accounts of their own, prefix: work of the busiest server", 1.05, 1.3],
  ]);
});

test("draws every way to choose", () => {
  const plots = tracePlots(found);
  expect(plots.size).toBe(3);
  for (const [name, svg] of plots) {
    expect(name).toMatch(/^routing\/traces-/);
    expect(svg).toContain("prefix, 8 cores");
    expect(svg).toContain("made-up agents");
  }
});
