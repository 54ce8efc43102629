import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import {
  reasoningEvent,
  textEvent,
  toolCallArgumentsEvent,
  toolCallStartedEvent,
} from "#src/fleet/engines/shared/answer/events.ts";
import { GatheredAnswer } from "#src/services/inference/answer/gathered-answer.ts";

/** What becomes of events that come in the given batches. */
function gather(...batches: GenerationEvent[][]): GenerationEvent[] {
  const answer = new GatheredAnswer();
  for (const batch of batches) {
    answer.add(batch);
  }
  return answer.end();
}

test.each<[string, GenerationEvent[][], GenerationEvent[]]>([
  ["nothing", [], []],
  ["an empty batch", [[]], []],
  ["pieces of text", [[textEvent("a"), textEvent("b")], [], [textEvent("c")]], [textEvent("abc")]],
  [
    "thinking, then text, then thinking again",
    [[reasoningEvent("a")], [reasoningEvent("b"), textEvent("c")], [reasoningEvent("d")]],
    [reasoningEvent("ab"), textEvent("c"), reasoningEvent("d")],
  ],
  [
    "two tool calls whose arguments come in pieces",
    [
      [toolCallStartedEvent(0, "x", "f"), toolCallArgumentsEvent(0, "{")],
      [toolCallArgumentsEvent(0, "}"), toolCallStartedEvent(1, "y", "g"), toolCallArgumentsEvent(1, "{}")],
    ],
    [
      toolCallStartedEvent(0, "x", "f"),
      toolCallArgumentsEvent(0, "{}"),
      toolCallStartedEvent(1, "y", "g"),
      toolCallArgumentsEvent(1, "{}"),
    ],
  ],
  [
    "arguments of two calls in turn",
    [[toolCallArgumentsEvent(0, "a"), toolCallArgumentsEvent(1, "b"), toolCallArgumentsEvent(0, "c")]],
    [toolCallArgumentsEvent(0, "a"), toolCallArgumentsEvent(1, "b"), toolCallArgumentsEvent(0, "c")],
  ],
])("joins %s", (_, batches, expected) => {
  expect(gather(...batches)).toEqual(expected);
});

test("a long text in many pieces takes little more memory than its length, and so does its bound", async () => {
  const { held, bytes, events } = await measure(2_000_000);
  expect(bytes).toBeGreaterThanOrEqual(10_000_000);
  expect(held).toBeLessThan(20_000_000); // 100,000,000 in pieces
  expect(events).toBe(1);
});

/** Gathers that many pieces of 5 characters in a process of its own, whose heap nothing else uses. */
async function measure(pieces: number): Promise<{ held: number; bytes: number; events: number }> {
  const load = (module: string) => `await import(${JSON.stringify(import.meta.resolve(module))})`;
  const script = `
    const { collectGarbage } = ${load("#lib/overload/collect-garbage.ts")};
    const { textEvent } = ${load("#src/fleet/engines/shared/answer/events.ts")};
    const { GatheredAnswer } = ${load("#src/services/inference/answer/gathered-answer.ts")};
    const { getHeapSpaceStatistics } = await import("node:v8");
    // The young generation does not tell what of it is in use; what is held has left it.
    const usedBytes = () => {
      collectGarbage();
      const held = getHeapSpaceStatistics().filter((space) => !space.space_name.startsWith("new"));
      return held.reduce((sum, space) => sum + space.space_used_size, 0);
    };
    const before = usedBytes();
    const answer = new GatheredAnswer();
    for (let i = 0; i < ${pieces}; i++) {
      answer.add([textEvent(JSON.parse('"' + (10_000 + (i % 1000)) + '"'))]);
    }
    const held = usedBytes() - before;
    console.log(JSON.stringify({ held, bytes: answer.bytes, events: answer.end().length }));`;
  const child = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  return JSON.parse(child.stdout);
}

test("what was given stays as it was", () => {
  const given = [textEvent("a"), textEvent("b")];
  gather(given);
  expect(given).toEqual([textEvent("a"), textEvent("b")]);
});
