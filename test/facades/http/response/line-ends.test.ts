import { expect, test } from "@jest/globals";
import { escapeLineEnds } from "../../../../facades/http/response/line-ends.ts";

test("line ends that only some clients know are escaped, and mean the same", () => {
  const ends = ["\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"];
  const value = { text: ends.join("a") };
  const json = escapeLineEnds(JSON.stringify(value));
  for (const end of ends) {
    expect(json).not.toContain(end);
  }
  expect(JSON.parse(json)).toEqual(value);
});

test("other text stays as it is", () => {
  const json = JSON.stringify({ text: "Grüße, 世界 🎉" });
  expect(escapeLineEnds(json)).toBe(json);
});
