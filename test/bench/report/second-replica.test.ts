import { expect, test } from "@jest/globals";
import { plain, results } from "./results.fixture.ts";
import { secondReplica } from "./second-replica.ts";

const cell = { ...plain, scenario: "scaled-out" };
const steady = (value: number) => ({ median: value, min: value * 0.9, max: value * 1.1 });
const under = (system: string, idle: number, requestsPerSecond: number) =>
  results(cell, system, 200).map((result) => ({
    ...result,
    requestsPerSecond: steady(requestsPerSecond),
    idle: steady(idle),
  }));

test("tells what a second replica brings, and how much of the machine one leaves idle", () => {
  const figures = secondReplica([
    ...under("tollgate-replicas-1", 0.3, 1000),
    ...under("tollgate-replicas-2", 0.1, 1200),
  ]);
  expect(figures.map(({ unit, value, limit }) => [unit, value.median, limit])).toEqual([
    ["× one replica", 1.2, undefined],
    ["of the machine", 0.3, undefined],
  ]);
  expect(figures[0]?.value.min).toBeCloseTo(1.2 * (0.9 / 1.1));
  expect(figures[0]?.value.max).toBeCloseTo(1.2 * (1.1 / 0.9));
});

test("tells nothing when only one of the two ran", () => {
  expect(secondReplica(under("tollgate-replicas-1", 0.3, 1000))).toEqual([]);
});
