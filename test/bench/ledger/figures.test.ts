import { expect, test } from "@jest/globals";
import { figuresOf, fullSizes, type LedgerRun, plotsOf } from "./figures.ts";
import type { LedgerMeasurement } from "./load.ts";

/** Two seconds in which the store took so many charges, at 50 µs each. */
function turn(settled: number): LedgerMeasurement {
  const latency = { count: settled, p50: 0.1, p90: 0.2, p99: 0.5, max: 9 };
  return {
    ...{
      duration: 2000,
      settled,
      hold: latency,
      holdServed: latency,
      acknowledgement: latency,
      waited: 0,
      refused: 0,
      disturbance: 0,
      errors: [],
    },
    stalls: undefined,
    ...{ mainCpu: settled * 30, otherCpu: settled * 20, databaseCpu: 0, commits: settled / 10, roundTrips: 0 },
  };
}

const run = (load: LedgerRun["load"], accounts = 1000, settled = 3000): LedgerRun => ({
  ...{ store: "SQLite", accounts, load, turns: [turn(settled * 0.9), turn(settled), turn(settled * 1.2)] },
});

const limits = (runs: LedgerRun[]) =>
  figuresOf(runs).flatMap(({ name, unit, value, better, limit }) =>
    limit === undefined ? [] : [[name, `${value.median} ${unit}`.trim(), better, limit]],
  );

test("judges times at the rate that the store must take", () => {
  expect(limits([run({ rate: 1500 })])).toEqual([
    ["SQLite, 1000 accounts, 1500/s: hold p99", "0.5 ms", "lower", 1],
    ["SQLite, 1000 accounts, 1500/s: acknowledgement p99", "0.5 ms", "lower", 20],
    ["SQLite, 1000 accounts, 1500/s: holds that waited for the store", "0", "lower", 0],
  ]);
});

test("judges the rate among the usual number of accounts", () => {
  expect(limits([run({ atOnce: fullSizes }, 10), run({ atOnce: fullSizes }), run({ atOnce: 16 })])).toEqual([
    ["SQLite, 1000 accounts, as fast as it takes: settled", "1500 /s", "higher", 1500],
  ]);
});

test("tells what a request costs", () => {
  const costs = figuresOf([run({ rate: 1500 }), run({ atOnce: 16 })]).map(({ name, value, unit }) => [
    name,
    value.median,
    unit,
  ]);
  expect(costs).toContainEqual(["SQLite, 1000 accounts, 1500/s: commits", 0.1, "a request"]);
  expect(costs).toContainEqual(["SQLite, 1000 accounts, 16 at once: CPU of the event loop", 30, "µs a request"]);
});

test("draws what grows with the accounts, a line for each store", () => {
  const full = [run({ atOnce: fullSizes }, 10), run({ atOnce: fullSizes }, 10_000), run({ rate: 1500 })];
  const plots = plotsOf([...full, ...full.map((one) => ({ ...one, store: "PostgreSQL" as const }))]);
  expect([...plots.keys()]).toEqual(["ledger-rate", "ledger-cpu"]);
  const rate = plots.get("ledger-rate") ?? "";
  expect(rate.match(/<polyline/g)).toHaveLength(2);
  expect(rate.match(/<circle/g)).toHaveLength(4);
  expect(rate).toContain("PostgreSQL");
});
