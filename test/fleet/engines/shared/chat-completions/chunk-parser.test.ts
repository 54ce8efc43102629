import { expect, test } from "@jest/globals";
import { ChunkParser } from "#src/fleet/engines/shared/chat-completions/chunk-parser.ts";

const content = (text: string, more: object = {}) =>
  JSON.stringify({ id: "1", ...more, choices: [{ index: 0, delta: { content: text } }] });
const reasoning = (text: string) => JSON.stringify({ id: "1", choices: [{ index: 0, delta: { reasoning: text } }] });

test("reads chunks of several forms in any order", () => {
  const parser = new ChunkParser();
  for (const data of [content("a"), reasoning("b"), content("c"), content("d\n"), reasoning("e"), content("f")]) {
    const { choices } = parser.parse(data);
    expect(choices).toEqual(JSON.parse(data).choices);
  }
});

test("goes on when every chunk has a form of its own", () => {
  const parser = new ChunkParser();
  for (let round = 0; round < 100; round++) {
    const data = content("a", { seq: round });
    expect(parser.parse(data)).toEqual(JSON.parse(data));
  }
  expect(parser.parse(content("b", { seq: 99 }))).toEqual(JSON.parse(content("b", { seq: 99 })));
});

test.each(["", "{", "[DONE]", content("a").slice(1)])("throws what the parser throws at %j", (data) => {
  const parser = new ChunkParser();
  parser.parse(content("a"));
  expect(() => parser.parse(data)).toThrow(SyntaxError);
});
