import { expect, test } from "@jest/globals";
import { WordCounter } from "./marker.ts";

function count(pieces: readonly string[]): number {
  const counter = new WordCounter("zebra");
  return pieces.reduce((sum, piece) => sum + counter.count(Buffer.from(piece)), 0);
}

test("counts a word once wherever the pieces end", () => {
  const text = "zebra, zebrazebra; zebr a zebra";
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      expect(count([text.slice(0, first), text.slice(first, second), text.slice(second)])).toBe(4);
    }
  }
  expect(count([...text])).toBe(4);
});

test("does not join two bodies", () => {
  const counter = new WordCounter("zebra");
  expect(counter.count(Buffer.from("zeb"))).toBe(0);
  counter.reset();
  expect(counter.count(Buffer.from("ra"))).toBe(0);
});
