import { expect, test } from "@jest/globals";
import { isPrintable, isSeen, toPlain, toPrintable } from "#lib/text/printable.ts";

test.each([
  ["Ada", "Ada"],
  ["Zoë 山田 🙂 a-b_c", "Zoë 山田 🙂 a-b_c"],
  ["", ""],
  ["a\nb\tc", "a\\u000ab\\u0009c"],
  ["\u001b[31mred\u007f\u0085", "\\u001b[31mred\\u007f\\u0085"],
  ["\u202etoor\u2066", "\\u202etoor\\u2066"],
  ["a\u2028b\u2029", "a\\u2028b\\u2029"],
])("%j is shown as %j", (text, shown) => {
  expect(toPrintable(text)).toBe(shown);
  expect(isPrintable(text)).toBe(text === shown);
  expect(isPrintable(toPlain(text))).toBe(true);
});

test.each([
  ["Ada", true],
  [" 👩‍🚀 ", true],
  ["ש‏לום", true],
  ["", false],
  [" 	 ", false],
  ["​⁠﻿­ㅤ", false],
])("whether anything of %j is seen: %j", (text, seen) => {
  expect(isSeen(text)).toBe(seen);
});
