import { test } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { OutputQueue } from "#src/fleet/engines/shared/answer/output-queue.ts";
import { StopSequences } from "#src/fleet/engines/shared/answer/stop-sequences.ts";
import { ThinkSplitter } from "#src/fleet/engines/shared/answer/think-splitter.ts";
import { ToolCallSplitter } from "#src/fleet/engines/shared/answer/tool-call-splitter.ts";
import { ToolCalls } from "#src/fleet/engines/shared/answer/tool-calls.ts";
import { LineSplitter } from "#src/fleet/engines/shared/http/line-splitter.ts";
import { SseParser } from "#src/fleet/engines/shared/http/sse-parser.ts";
import { expectLinear } from "../../../support/work.ts";

// Work on hostile answers grows with their length and not with its square.

const works: readonly [name: string, size: number, work: (size: number) => void][] = [
  [
    "a line without an end in small pieces",
    200_000,
    (size) => {
      const lines = new LineSplitter(() => {}, Number.POSITIVE_INFINITY);
      for (let at = 0; at < size; at++) {
        lines.push(Buffer.from("aaaa"));
      }
      lines.end();
    },
  ],
  [
    "an event of many lines",
    50_000,
    (size) => {
      const sse = new SseParser(() => {}, Number.POSITIVE_INFINITY);
      for (let at = 0; at < size; at++) {
        sse.push(Buffer.from("data: 1\n"));
      }
      sse.end();
    },
  ],
  [
    "pieces of one tool call that each bring another id and name",
    20_000,
    (size) => {
      const calls = new ToolCalls("req");
      calls.push({ index: 0, id: "a", function: { name: "f", arguments: '{"a":"' } }, []);
      for (let at = 0; at < size; at++) {
        calls.push({ index: 0, id: `i${at}`, function: { name: "g", arguments: "xxxxxxxx" } }, []);
      }
    },
  ],
  [
    "a call's block without an end, one character a piece",
    100_000,
    (size) => {
      const splitter = new ToolCallSplitter(new ToolCalls("req"), false);
      const events: GenerationEvent[] = [];
      splitter.push("<tool_call>", events);
      for (let at = 0; at < size; at++) {
        splitter.push(at % 2 === 0 ? "<" : "/", events);
      }
      splitter.end(events);
    },
  ],
  [
    "thinking full of near-tags, one character a piece",
    100_000,
    (size) => {
      const splitter = new ThinkSplitter("thinking");
      const events: GenerationEvent[] = [];
      const text = "</thin<think></think><think>\n\n   <think";
      for (let at = 0; at < size; at++) {
        splitter.push(text[at % text.length] ?? "", events);
      }
      splitter.end(events);
    },
  ],
  [
    "thinking full of near-tags, in one piece",
    20_000,
    (size) => new ThinkSplitter("answer").push(`a<think>\n   b</think> <think>${" ".repeat(20)}`.repeat(size), []),
  ],
  [
    "a long stop sequence that never quite comes",
    100_000,
    (size) => {
      const stops = new StopSequences([`${"a".repeat(5000)}b`, `${"a".repeat(2500)}c${"a".repeat(2500)}d`]);
      for (let at = 0; at < size; at++) {
        stops.push(at % 4999 === 0 ? "c" : "a");
      }
    },
  ],
  [
    "outputs that wait for a slow reader",
    20_000,
    (size) => {
      const queue = new OutputQueue({ pause() {}, resume() {}, cancel() {} });
      const event: GenerationEvent = {
        $typeName: "tollgate.inference.v1.GenerationEvent",
        event: { case: "text", value: "a" },
      };
      for (let at = 0; at < size; at++) {
        queue.push({ events: [event] });
      }
    },
  ],
];

test.each(works)("%s", (_, size, work) => expectLinear(size, work), 60_000);
