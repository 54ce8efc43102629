import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { type TextStart, ThinkSplitter } from "#src/fleet/engines/shared/answer/think-splitter.ts";
import { join } from "../../collect.ts";

function split(start: TextStart, ...pieces: string[]) {
  const splitter = new ThinkSplitter(start);
  const events: GenerationEvent[] = [];
  for (const piece of pieces) {
    splitter.push(piece, events);
  }
  splitter.end(events);
  const { reasoning, text } = join(events);
  return [reasoning, text];
}

test.each<[string, TextStart, string, string, string]>([
  ["no block", "answer", "Hello.", "", "Hello."],
  ["a block", "answer", "<think>\nhm\n</think>\n\nHello.", "hm\n", "Hello."],
  ["a block after a line break", "answer", "\n<think>hm</think>Hello.", "hm", "Hello."],
  ["an empty block", "answer", "<think>\n\n</think>\n\nHello.", "", "Hello."],
  ["a block that never ends", "answer", "<think>hm", "hm", ""],
  ["a second block", "answer", "<think>a</think>b\n<think>c</think>d", "ac", "b\nd"],
  ["the tag in a program", "answer", 'tag = "<think>"', "", 'tag = "<think>"'],
  ["the closing tag in an answer", "answer", "write </think> there", "", "write </think> there"],
  ["the start of a tag at the end", "answer", "a <thi", "", "a <thi"],
  ["less than", "answer", "1 < 2 <t", "", "1 < 2 <t"],
  ["opened by the template", "thinking", "hm</think>Hello.", "hm", "Hello."],
  ["opened by both", "thinking", "\n<think>\nhm</think>Hello.", "hm", "Hello."],
  ["opened and cut", "thinking", "hm </thi", "hm </thi", ""],
  ["opened, and the tag within", "thinking", "a <think> b</think>c", "a <think> b", "c"],
  ["a continued text", "continuation", " world", "", " world"],
  ["a continued text that thinks", "continuation", "<think>hm</think>Hello.", "hm", "Hello."],
])("%s", (_, start, input, reasoning, text) => {
  expect(split(start, input)).toEqual([reasoning, text]);
  expect(split(start, ...input)).toEqual([reasoning, text]);
});

test("splits the same wherever the pieces end", () => {
  const parts = fc.constantFrom("<think>", "</think>", "\n", "\n\n", " ", "a", "<", "</", "think>", "ü", "\t");
  const starts = fc.constantFrom<TextStart>("answer", "thinking", "continuation");
  fc.assert(
    fc.property(starts, fc.array(parts, { maxLength: 12 }), fc.array(fc.nat(8)), (start, words, lengths) => {
      const input = words.join("");
      const pieces: string[] = [];
      let rest = input;
      for (const length of lengths) {
        pieces.push(rest.slice(0, length));
        rest = rest.slice(length);
      }
      expect(split(start, ...pieces, rest)).toEqual(split(start, input));
    }),
    { numRuns: 2000 },
  );
});

test("what follows is an answer once the engine sends reasoning apart", () => {
  const splitter = new ThinkSplitter("thinking");
  const events: GenerationEvent[] = [];
  splitter.startAnswer();
  splitter.push("Hello.", events);
  expect(join(events).text).toBe("Hello.");
});
