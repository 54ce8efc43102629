import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseKeepingDigits, parseLongNumbers } from "#lib/text/json/long-numbers.ts";
import { fuzzing } from "../../../support/fuzz.ts";
import { expectLinear } from "../../../support/work.ts";

test.each([
  "12345678901234567890123",
  '{"id":9007199254740993,"deep":[{"rate":-9007199254740993}]}',
  "12345678.123456789",
  "[0.1000000000000000055,12345678901234567e-3]",
  '{"text":"..........................................","id":9007199254740993}',
  '{"12345678901234567890":"12345678901234567890 \\" 12345678901234567890","id":12345678901234567890}',
  '{"__proto__":9007199254740993}',
  '{"marks":"\\u0001 \\u0002","id":9007199254740993}',
])("%s keeps its digits where a double would not", (text) => {
  for (let before = 0; before < 20; before += 1) {
    expect(JSON.stringify(parseKeepingDigits(" ".repeat(before) + text))).toBe(text);
  }
});

test("numbers that are not long are numbers, and texts are texts", () => {
  const text = `{"a":1.5,"b":123456789012345,"c":["${"1234567890,".repeat(9)}"],"d":"12345678901234567890"}`;
  expect(parseKeepingDigits(text)).toEqual(JSON.parse(text));
});

test("a number without an end of its exponent is kept too", () => {
  expect(JSON.stringify(parseLongNumbers("[1e400,-1.5E+999,2]"))).toBe("[1e400,-1.5E+999,2]");
});

test("JSON whose texts have all marks is parsed as usual", () => {
  const text = `["\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007",12345678901234567890]`;
  expect(parseKeepingDigits(text)).toEqual(JSON.parse(text));
});

test("it reads what JSON.parse reads, however deep, and refuses what it refuses", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.stringify(parseLongNumbers(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
    fuzzing(300),
  );
  const depth = 100_000;
  expect(Array.isArray(parseLongNumbers(`${"[".repeat(depth)}12345678901234567890${"]".repeat(depth)}`))).toBe(true);
  for (const wrong of [
    "{",
    "01234567890123456789",
    "12345678901234567890.",
    '"12345678901234567890',
    "1.2.3456789012345678",
  ]) {
    expect(() => parseKeepingDigits(wrong)).toThrow(SyntaxError);
  }
});

test.each(["1", "0.", '\\"', '"', "\\", "1e", "-1", "[", "12345678901234567,"])(
  "many %j cost no more than their number",
  (piece) => {
    expectLinear(16_000, (size) => {
      for (const start of ["", '"', "["]) {
        try {
          parseLongNumbers(start + piece.repeat(size / piece.length));
        } catch {}
      }
    });
  },
);
