import { expect, test } from "@jest/globals";
import { findExpressions, findSlowness } from "../../scripts/check-expressions.ts";

test.each([/^\s*($|;|[^;]*json|text\/plain)/i, /\s*;\s*/, /0+$/, /(a+)+b/, /^Bearer +(.+)$/])(
  "%s is slow on long texts",
  ({ source, flags }) => {
    expect(findSlowness({ source, flags })).toMatch(/their square|for ever/);
  },
);

test.each([/^[!-~]{1,1024}$/, /(?<!0)0+$/, /^\w+(\.\w+)+$/, /[\p{Cc}\p{Cs}]/gu])("%s is not", ({ source, flags }) => {
  expect(findSlowness({ source, flags })).toBeUndefined();
});

test("expressions are found in TypeScript, with their lines", () => {
  const text = 'const text: string = "/no/";\nconst found = text.replace(/a+$/gi, "") satisfies string;\n';
  expect(findExpressions(text)).toEqual([{ source: "a+$", flags: "gi", line: 2 }]);
});
