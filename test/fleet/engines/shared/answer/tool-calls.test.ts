import { expect, test } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { type ToolCallDelta, ToolCalls } from "#src/fleet/engines/shared/answer/tool-calls.ts";
import { join } from "../../collect.ts";

function read(...deltas: ToolCallDelta[]) {
  const calls = new ToolCalls("req");
  const events: GenerationEvent[] = [];
  for (const delta of deltas) {
    calls.push(delta, events);
  }
  calls.end(events);
  return join(events).calls;
}

const weather = { id: "a", name: "weather", arguments: '{"city":"Oslo"}' };
const time = { id: "b", name: "time", arguments: "{}" };

test.each<[string, ToolCallDelta[], unknown[]]>([
  [
    "in pieces",
    [
      { index: 0, id: "a", function: { name: "weather", arguments: "" } },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Oslo"}' } },
    ],
    [weather],
  ],
  ["whole", [{ index: 0, id: "a", function: { name: "weather", arguments: '{"city":"Oslo"}' } }], [weather]],
  [
    "arguments as an object",
    [{ index: 0, id: "a", function: { name: "weather", arguments: { city: "Oslo" } } }],
    [weather],
  ],
  ["no arguments", [{ index: 0, id: "b", function: { name: "time" } }], [time]],
  [
    "null everywhere",
    [
      { index: 0, id: "b", function: { name: "time", arguments: null } },
      { index: 0, id: null, function: null },
    ],
    [time],
  ],
  ["no index", [{ id: "a", function: { name: "weather" } }, { function: { arguments: '{"city":"Oslo"}' } }], [weather]],
  [
    "no index, two calls",
    [
      { id: "a", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      { id: "b", function: { name: "time", arguments: "{}" } },
    ],
    [weather, time],
  ],
  [
    "one index for two calls",
    [
      { index: 0, id: "a", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      { index: 0, id: "b", function: { name: "time", arguments: "{}" } },
    ],
    [weather, time],
  ],
  [
    "one index for a call without arguments and the next one",
    [
      { index: 0, id: "b", function: { name: "time", arguments: "" } },
      { index: 0, id: "a", function: { name: "weather", arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Oslo"}' } },
    ],
    [time, weather],
  ],
  [
    "one index and no ids",
    [
      { index: 0, function: { name: "time", arguments: "" } },
      { index: 0, function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      { index: 0, function: { name: "time", arguments: "{}" } },
    ],
    [
      { ...time, id: "call_req_0" },
      { ...weather, id: "call_req_1" },
      { ...time, id: "call_req_2" },
    ],
  ],
  [
    "neither index nor ids",
    [{ function: { name: "weather", arguments: '{"city":"Oslo"}' } }, { function: { name: "time", arguments: "" } }],
    [
      { ...weather, id: "call_req_0" },
      { ...time, id: "call_req_1" },
    ],
  ],
  [
    "the same id and name with every piece",
    [
      { index: 0, id: "a", function: { name: "weather", arguments: "" } },
      { index: 0, id: "a", function: { name: "weather", arguments: '{"city":' } },
      { index: 0, id: "a", function: { name: "weather", arguments: '"Oslo"}' } },
      { index: 0, id: "a", function: { name: "weather", arguments: "" } },
    ],
    [weather],
  ],
  [
    "a new id and the name again after a first piece without arguments",
    [
      { index: 0, id: "a", function: { name: "weather", arguments: "" } },
      { index: 0, id: "x", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ],
    [weather],
  ],
  [
    "a new id and the name again with every piece",
    [
      { index: 0, id: "a", function: { name: "weather", arguments: '{"city":' } },
      { index: 0, id: "x", function: { name: "weather", arguments: '"Oslo"}' } },
    ],
    [weather],
  ],
  [
    "a late name",
    [
      { index: 0, id: "a", function: { arguments: '{"city":"Oslo"}' } },
      { index: 0, function: { name: "weather" } },
    ],
    [weather],
  ],
  [
    "indices with gaps",
    [
      { index: 2, id: "a", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      { index: 5, id: "b", function: { name: "time" } },
    ],
    [weather, time],
  ],
  [
    "pieces in turns",
    [
      { index: 0, id: "a", function: { name: "weather", arguments: "" } },
      { index: 1, id: "c", function: { name: "weather", arguments: "" } },
      { index: 2, id: "b", function: { name: "time", arguments: "" } },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 1, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Oslo"}' } },
      { index: 1, function: { arguments: '"Ulm"}' } },
    ],
    [weather, { ...weather, id: "c", arguments: '{"city":"Ulm"}' }, time],
  ],
  [
    "pieces in turns, the last call's first",
    [
      { index: 0, id: "b", function: { name: "time", arguments: "" } },
      { index: 1, id: "a", function: { name: "weather", arguments: "" } },
      { index: 2, id: "c", function: { name: "time", arguments: "" } },
      { index: 1, function: { arguments: '{"city":"Oslo"}' } },
    ],
    [time, weather, { ...time, id: "c" }],
  ],
  ["no id", [{ index: 0, function: { name: "time" } }], [{ ...time, id: "call_req_0" }]],
  [
    "one id for two calls",
    [
      { index: 0, id: "b", function: { name: "time" } },
      { index: 1, id: "b", function: { name: "time" } },
    ],
    [time, { ...time, id: "call_req_1" }],
  ],
])("%s", (_, deltas, calls) => {
  expect(read(...deltas)).toEqual(calls);
});

test("a call without arguments is whole before the next one begins, which waits for its own", () => {
  const events: GenerationEvent[] = [];
  const seen = () => events.map(({ event }) => event.case);
  const calls = new ToolCalls("req");
  calls.push({ index: 0, id: "b", function: { name: "time" } }, events);
  calls.push({ index: 1, id: "a", function: { name: "weather" } }, events);
  expect(seen()).toEqual(["toolCallStarted"]);
  calls.push({ index: 1, function: { arguments: "{" } }, events);
  const [started, given] = ["toolCallStarted", "toolCallArguments"];
  expect(seen()).toEqual([started, given, started, given]);
});
