import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { formatRate, formatUsd, maxPicoUsd, parseRate, parseUsd, parseUsdNumber } from "#lib/money/money.ts";

test.each([
  ["0", 0n],
  ["10", 10_000_000_000_000n],
  ["0.000000000001", 1n],
  ["0.20", 200_000_000_000n],
  ["", undefined],
  [".5", undefined],
  ["1.", undefined],
  ["-1", undefined],
  ["1e3", undefined],
  ["1,5", undefined],
  ["0.0000000000001", undefined],
])("%j USD is %s pico-USD", (text, pico) => {
  expect(parseUsd(text)).toBe(pico);
});

test.each([
  [0n, "0.00"],
  [1n, "0.000000000001"],
  [1_500_000_000_000n, "1.50"],
  [-1_234_567_000_000n, "-1.234567"],
])("%s pico-USD is %s", (pico, text) => {
  expect(formatUsd(pico)).toBe(text);
});

test("what is written is read back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), (pico) => {
      expect(parseUsd(formatUsd(pico))).toBe(pico);
    }),
  );
});

test.each([
  ["0.20", 200_000n, "0.20"],
  ["0.000001", 1n, "0.000001"],
  ["1000", 1_000_000_000n, "1000.00"],
])("%s USD per 1M tokens is %s pico-USD a token", (text, pico, written) => {
  expect(parseRate(text)).toBe(pico);
  expect(formatRate(pico)).toBe(written);
});

test("a rate finer than a pico-USD a token is refused", () => {
  expect(parseRate("0.0000001")).toBeUndefined();
});

test.each([
  ["9007.199254740991", maxPicoUsd],
  ["9007.199254740992", undefined],
  ["1e-12", 1n],
  ["1.5E+2", 150_000_000_000_000n],
  ["0.10000000000000000000", 100_000_000_000n],
  ["0", 0n],
  ["0.0000000000001", undefined],
  ["1e999", undefined],
  ["1e-999", undefined],
  ["-1", undefined],
  ["", undefined],
  ["x", undefined],
])("the JSON number %j of USD is %s pico-USD", (text, pico) => {
  expect(parseUsdNumber(text)).toBe(pico);
});

test("a number of USD is read exactly, as JSON writes it", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (pico) => {
      expect(parseUsdNumber(JSON.stringify(Number(formatUsd(pico))))).toBe(pico);
    }),
  );
});
