import { expect, test } from "@jest/globals";
import { plain, results } from "./results.fixture.ts";
import { secondWorker } from "./second-worker.ts";

const cell = { ...plain, scenario: "scaled-out" };
const steady = (value: number) => ({ median: value, min: value * 0.9, max: value * 1.1 });
const under = (system: string, idle: number, requestsPerSecond: number) =>
  results(cell, system, 200).map((result) => ({
    ...result,
    requestsPerSecond: steady(requestsPerSecond),
    idle: steady(idle),
  }));

test("tells what a second worker brings, and how much of the machine one leaves idle", () => {
  const figures = secondWorker([...under("tollgate-workers-1", 0.3, 1000), ...under("tollgate-workers-2", 0.1, 1200)]);
  expect(figures.map(({ unit, value, limit }) => [unit, value.median, limit])).toEqual([
    ["× one worker", 1.2, undefined],
    ["of the machine", 0.3, undefined],
  ]);
  expect(figures[0]?.value.min).toBeCloseTo(1.2 * (0.9 / 1.1));
  expect(figures[0]?.value.max).toBeCloseTo(1.2 * (1.1 / 0.9));
});

test("tells nothing when only one of the two ran", () => {
  expect(secondWorker(under("tollgate-workers-1", 0.3, 1000))).toEqual([]);
});
