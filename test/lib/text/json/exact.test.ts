import { expect, test } from "@jest/globals";
import { parseExactJson } from "#lib/text/json/exact.ts";

test.each([
  "12345678901234567890123",
  "1.0",
  "1e400",
  "-0",
  '{"id":9007199254740993,"deep":[{"rate":0.10}]}',
  '"9007199254740993"',
  "null",
  "[]",
])("%s is written again as it was", (text) => {
  expect(JSON.stringify(parseExactJson(text))).toBe(text);
});

test("texts, truth values and null are read as they are", () => {
  expect(parseExactJson('{"text":"1","yes":true,"none":null}')).toEqual({ text: "1", yes: true, none: null });
});

test("what is no JSON is refused", () => {
  expect(() => parseExactJson("{")).toThrow(SyntaxError);
});
