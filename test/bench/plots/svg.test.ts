import { expect, test } from "@jest/globals";
import { legend, legendHeight, niceCeiling, tell } from "./svg.ts";

test.each([
  [0, 1],
  [0.3, 0.5],
  [1, 1],
  [2.2, 2.5],
  [51, 100],
  [700, 1000],
])("rounds an axis of %d up", (value, top) => {
  expect(niceCeiling(value)).toBeCloseTo(top);
});

test.each([
  [0.26, "0.3"],
  [999.96, "1,000"],
  [48_789.7, "48,790"],
  [-3, "-3"],
])("tells %d as %s", (value, told) => {
  expect(tell(value)).toBe(told);
});

test("goes on in a further row with the names that have no room in the first, each in a colour of its own", () => {
  const names = ["one", "two", "three", "four", "five", "six", "seven"];
  const svg = legend(names, 100, 30, 550);
  const places = [...svg.matchAll(/<rect x="(\d+)" y="(\d+)".*? fill="(#\w+)"/g)];
  expect(places.map(([, x, y]) => `${x} ${y}`)).toEqual([
    ...["100 30", "230 30", "360 30", "490 30"],
    ...["100 46", "230 46", "360 46"],
  ]);
  expect(new Set(places.map(([, , , colour]) => colour)).size).toBe(names.length);
  expect(legendHeight(names, 550)).toBe(32);
});
