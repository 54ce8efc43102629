import { expect, test } from "@jest/globals";
import { short, table } from "./table.ts";

test("aligns names to the left and figures to the right", () => {
  expect(
    table(
      ["load", "µs"],
      [
        ["plain", "240"],
        ["a long one", "6"],
      ],
    ),
  ).toBe(["load         µs", "───────────────", "plain       240", "a long one    6"].join("\n"));
});

test.each([
  [0.123, "0.12"],
  [12.34, "12.3"],
  [1234.5, "1235"],
  [-12.34, "-12.3"],
  [Number.NaN, "–"],
  [Number.POSITIVE_INFINITY, "–"],
])("shortens %d", (value, text) => {
  expect(short(value)).toBe(text);
});
