import { expect, test } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { collectGarbage } from "../../../lib/overload/collect-garbage.ts";
import {
  reasoningEvent,
  textEvent,
  toolCallArgumentsEvent,
  toolCallStartedEvent,
} from "../../../src/engines/shared/answer/events.ts";
import { GatheredAnswer } from "../../../src/inference/answer/gathered-answer.ts";

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

test("a long text in many pieces takes little more memory than its length, and so does its bound", () => {
  const used = [1, 2, 3].map(() => {
    const answer = new GatheredAnswer();
    const before = usedBytes();
    for (let i = 0; i < 400_000; i++) {
      answer.add([textEvent(JSON.parse(`"${10_000 + (i % 1000)}"`))]);
    }
    const taken = usedBytes() - before;
    expect(answer.bytes).toBeGreaterThanOrEqual(2_000_000);
    expect(answer.end()).toHaveLength(1);
    return taken;
  });
  expect(Math.min(...used)).toBeLessThan(6_000_000); // 20,000,000 in pieces
});

/** Memory of the heap that is no garbage. */
function usedBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test("what was given stays as it was", () => {
  const given = [textEvent("a"), textEvent("b")];
  gather(given);
  expect(given).toEqual([textEvent("a"), textEvent("b")]);
});
