import { expect, test } from "@jest/globals";
import { encode, pieces, tokenId, vocabularySize } from "../../../../simulator/engine/text/tokenizer.ts";

const texts = [
  "",
  "Hello there, how are you?",
  "  two blanks,\n\n\tand   more\r\n",
  "extraordinarily long words 1234567 42",
  "Straße, naïve, Ελληνικά, русский",
  "東京は今日も晴れ",
  "👋🏽 family 👨‍👩‍👧 and a lone \ud83d",
  '{"city":"Paris","days":[1,2,3]}',
  " ".repeat(100),
];

test.each(texts)("pieces of %j are the text, and as many as ids", (text) => {
  const found = pieces(text);
  expect(found.join("")).toBe(text);
  expect(encode(text)).toEqual(found.map(tokenId));
});

test("a short word is one token wherever it stands, an emoji is two", () => {
  expect(encode("the river and the river")).toHaveLength(5);
  expect(encode(" river")).toEqual(encode("the river").slice(1));
  expect(encode("👋")).toHaveLength(2);
});

test("ids fit the vocabulary and leave room for special tokens", () => {
  const ids = encode(texts.join(" "));
  expect(Math.min(...ids)).toBeGreaterThanOrEqual(16);
  expect(Math.max(...ids)).toBeLessThan(vocabularySize);
});
