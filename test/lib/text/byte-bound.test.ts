import { expect, test } from "@jest/globals";
import { byteBound } from "#lib/text/byte-bound.ts";

test.each([
  ["", 0],
  ["abc", 3],
  ["é", 2],
  ["漢", 3],
  ["\u{1F600}", 4],
  ["\ufdfa", 33],
  ["e\u0301", 3],
  ["\ud800", 3],
])("%j", (text, bytes) => {
  expect(byteBound(text)).toBe(bytes);
});
