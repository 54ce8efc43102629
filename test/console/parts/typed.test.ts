import { expect, test } from "@jest/globals";
import { readRate, readUsd, requireUsd } from "../../../console/parts/forms/typed.ts";

test.each([
  ["25", 25_000_000_000_000n],
  [" 19.90 ", 19_900_000_000_000n],
  ["0.000000000001", 1n],
])("an amount typed as %j is %s pico-USD", (text, pico) => {
  expect(readUsd(text, "The amount")).toBe(pico);
  expect(requireUsd(text, "The amount")).toBe(pico);
});

test.each(["0", "-5", "abc", "1e3", "5,50", "9008", "99999999999999", "0.0000000000001"])(
  "%j is refused with what is allowed, before the contract is asked, which could not carry every number",
  (text) => {
    const allowed = "The amount has to be USD above 0 and below 9007, with at most 12 decimals, such as 20 or 4.99.";
    expect(() => requireUsd(text, "The amount")).toThrow(new Error(allowed));
    expect(() => readUsd(text, "The amount")).toThrow(`${allowed} Leave it empty for none.`);
  },
);

test("no amount is none where that may be, and a sum may be larger than a payment", () => {
  expect(readUsd(" ", "The amount")).toBeUndefined();
  expect(() => requireUsd(" ", "The amount")).toThrow("The amount has to be USD above 0");
  expect(requireUsd("20000", "The sum", 2n ** 63n - 1n)).toBe(20_000n * 10n ** 12n);
  expect(() => requireUsd("99999999", "The sum", 2n ** 63n - 1n)).toThrow("below 9223372,");
});

test("a price is bounded where it is typed, too", () => {
  expect(["0", " 0.25", "1000", "1000.000001", "99999999999999999", "1e3", ""].map(readRate)).toEqual([
    ...[0n, 250_000n, 1_000_000_000n],
    ...[undefined, undefined, undefined, undefined],
  ]);
});
