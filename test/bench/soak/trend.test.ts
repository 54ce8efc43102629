import { expect, test } from "@jest/globals";
import { floors, type Point, slope } from "./trend.ts";

const line = (value: (at: number) => number): Point[] => Array.from({ length: 20 }, (_, at) => [at, value(at)]);

test.each([
  ["grows", line((at) => 5 + 2 * at), 2],
  ["stands still", line(() => 7), 0],
  ["has a few odd readings", line((at) => (at % 7 === 3 ? 1000 : 3 * at)), 3],
  ["has two points", [[0, 1] as const, [2, 5] as const], 2],
])("a series that %s", (_, points, expected) => {
  expect(slope(points)).toBeCloseTo(expected);
});

test("one point has no trend", () => {
  expect(slope([[0, 1]])).toBeNaN();
});

test("a sawtooth's floor tells the leak from the garbage", () => {
  const sawtooth = line((at) => at + (at % 4) * 50);
  expect(floors(sawtooth, 5)).toEqual([
    [0, 0],
    [4, 4],
    [8, 8],
    [12, 12],
    [16, 16],
  ]);
  expect(slope(floors(sawtooth, 5))).toBeCloseTo(1);
});
