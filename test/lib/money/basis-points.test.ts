import { expect, test } from "@jest/globals";
import { formatPercent, parsePercent } from "#lib/money/basis-points.ts";

test("a per cent is read and written exactly", () => {
  for (let basisPoints = 0; basisPoints < 10_000; basisPoints++) {
    expect(parsePercent(formatPercent(basisPoints))).toBe(basisPoints);
  }
  expect(parsePercent("12.50")).toBe(1250);
});

test("what is no per cent with at most two decimals is not read", () => {
  expect(["", "-1", "1.", ".5", "1.234", "15%", "1e1"].map(parsePercent)).toEqual(Array(7).fill(undefined));
});
