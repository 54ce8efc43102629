import { expect, test } from "@jest/globals";
import { complaint, type Kind, kindAt, mix } from "./mix.ts";

const kind = (name: string) => mix.find((one) => one.name === name) as Kind;
const words = (count: number) => "zebra ".repeat(count);

test.each([
  ["chat", 200, words(10), undefined],
  ["chat", 200, words(9), "9 of 10 tokens"],
  ["chat", 500, "oh", "status 500: oh"],
  ["chat stream", 200, `${words(50)}data: [DONE]\n\n`, undefined],
  ["chat stream", 200, words(50), 'ends with "'],
  ["over its limit", 429, "", undefined],
  ["chat, short of money", 200, words(3), undefined],
  ["chat, short of money", 200, "", "0 of 50 tokens"],
  ["no server", 200, words(10), "status 200"],
])("%s with status %d and %j", (name, status, text, expected) => {
  const found = complaint(kind(name), status, text);
  if (expected === undefined) {
    expect(found).toBeUndefined();
  } else {
    expect(found).toContain(expected);
  }
});

test("kinds come by weight", () => {
  const drawn = Array.from({ length: 1000 }, (_, at) => kindAt(at / 1000).name);
  expect(new Set(drawn)).toEqual(new Set(mix.map(({ name }) => name)));
  const share = (name: string) => drawn.filter((one) => one === name).length;
  expect(share("chat") / share("no server")).toBeCloseTo(20, -1);
  expect(kindAt(1)).toBe(mix.at(-1));
});
