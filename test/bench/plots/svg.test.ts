import { expect, test } from "@jest/globals";
import { niceCeiling } from "./svg.ts";

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
