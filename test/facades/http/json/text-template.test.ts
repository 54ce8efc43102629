import { expect, test } from "@jest/globals";
import { textTemplate } from "../../../../facades/http/json/text-template.ts";

test.each(["", "a", 'q"', "\\", "\n", "ü 😀", "\ud800", "\u0001", "$&", "{}"])(
  "writes %j as it is written anew",
  (text) => {
    const write = (content: string) => `data: ${JSON.stringify({ id: 1, choices: [{ delta: { content } }] })}\n\n`;
    expect(textTemplate(write)(text)).toBe(write(text));
  },
);

test("encodes the rest once, when it is first needed", () => {
  let times = 0;
  const write = textTemplate((text) => {
    times++;
    return JSON.stringify([text]);
  });
  expect(times).toBe(0);
  expect([write("a"), write("b")]).toEqual(['["a"]', '["b"]']);
  expect(times).toBe(1);
});
