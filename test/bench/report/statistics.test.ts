import { expect, test } from "@jest/globals";
import { percentile, percentiles, spread } from "./statistics.ts";

test.each([
  [[7], 0.5, 7],
  [[1, 2, 3, 4], 0.5, 2],
  [[1, 2, 3, 4], 0.99, 4],
  [[1, 2, 3, 4], 0, 1],
  [Array.from({ length: 100 }, (_, at) => at + 1), 0.99, 99],
])("percentile of %j at %d", (sorted, part, expected) => {
  expect(percentile(sorted, part)).toBe(expected);
});

test("sorts by number", () => {
  expect(percentiles([10, 9, 1])).toEqual({ count: 3, p50: 9, p90: 10, p99: 10, max: 10 });
});

test("has no numbers without samples", () => {
  expect(percentiles([])).toEqual({ count: 0, p50: Number.NaN, p90: Number.NaN, p99: Number.NaN, max: Number.NaN });
});

test.each([
  [[3, 1, 2], { median: 2, min: 1, max: 3 }],
  [[4, 1], { median: 2.5, min: 1, max: 4 }],
  [[5, Number.NaN], { median: 5, min: 5, max: 5 }],
])("spread of %j", (values, expected) => {
  expect(spread(values)).toEqual(expected);
});
