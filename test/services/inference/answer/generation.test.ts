import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import type { SettleStatus } from "#src/money/model/charges/settlement.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { generation } from "#src/services/inference/answer/generation.ts";
import type { GenerationObserver } from "#src/services/inference/interface.ts";
import type { PlannedGeneration } from "#src/services/inference/request/plan.ts";

const text = (value: string): GenerationEvent => ({
  $typeName: "tollgate.inference.v1.GenerationEvent",
  event: { case: "text", value },
});
const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

/** A hold that writes down what becomes of it. */
function recordingHold(outputTokens: number) {
  const ended: (["settled", ChargedTokens, SettleStatus] | ["released"] | ["released", ChargedTokens])[] = [];
  const hold: Hold = {
    runId: "run-1",
    inputTokens: 1000,
    outputTokens,
    progress: () => {},
    async settle({ inputTokens, outputTokens }, status) {
      ended.push(["settled", { inputTokens, outputTokens }, status]);
      return undefined;
    },
    release: (read) => void ended.push(read === undefined ? ["released"] : ["released", read]),
  };
  return { hold, ended };
}

/** Runs a scripted engine; an Error in the script is thrown. `take` is how many messages the caller reads. */
async function run(
  script: (EngineOutput | Error)[],
  options: { take?: number; cap?: number; abort?: boolean; gathered?: boolean } = {},
) {
  const { hold, ended } = recordingHold(options.cap ?? 1000);
  const alarms: string[] = [];
  let engineStopped = false;
  const fleet = {
    async *generate() {
      try {
        for (const step of script) {
          if (step instanceof Error) {
            throw step;
          }
          yield step;
        }
      } finally {
        engineStopped = true;
      }
    },
  } as unknown as Fleet;
  const logger = { debug() {}, info() {}, warn() {}, error: (_: object, message: string) => void alarms.push(message) };
  const observed: unknown[][] = [];
  const observer: GenerationObserver = {
    began: (...told) => void observed.push(["began", ...told]),
    ended: (...told) => void observed.push(["ended", ...told]),
    unbilled: (...told) => void observed.push(["unbilled", ...told]),
  };
  const controller = new AbortController();
  const start = { receivedAt: 0, surface: "grpc", asked() {} } as const;
  const parts = { fleet, logger, observer, clock: { monotonic: () => 0 } };
  const planned = {
    model: { id: "m" },
    request: { requestId: "req_1", gathered: options.gathered ?? false },
    estimatedInput: 42,
    hold,
  } as unknown as PlannedGeneration;
  const events: GenerationEvent["event"][] = [];
  let error: unknown;
  let taken = 0;
  try {
    for await (const message of generation(planned, start, parts, controller.signal)) {
      events.push(...message.events.map(({ event }) => event));
      if (++taken === options.take) {
        if (options.abort) {
          controller.abort();
        } else {
          break;
        }
      }
    }
  } catch (thrown) {
    error = thrown;
  }
  return { events, ended, alarms, observed, engineStopped, error };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const unobserved: GenerationObserver = { began() {}, ended() {}, unbilled() {} };
const aborted = failure(Reason.ENGINE_FAILED, "aborted");

test("starts, streams, settles, finishes", async () => {
  const { events, ended, observed, error } = await run([
    { events: [text("Hel")], usage: usage(7, 1) },
    { events: [text("lo")], usage: usage(7, 2) },
    { events: [], usage: { ...usage(7, 3), reasoningTokens: 0, cachedInputTokens: 4 }, finish: FinishReason.STOP },
  ]);
  expect(error).toBeUndefined();
  expect(events.map((event) => event.case)).toEqual(["started", "text", "text", "finished"]);
  expect(events[0]?.value).toMatchObject({ requestId: "req_1", inputTokens: 7n });
  expect(events[3]?.value).toMatchObject({
    reason: FinishReason.STOP,
    usage: { inputTokens: 7n, outputTokens: 3n, reasoningTokens: 0n, cachedInputTokens: 4n },
  });
  expect(ended).toEqual([["settled", usage(7, 3), "completed"]]);
  expect(observed).toEqual([
    ["began", "m"],
    ["ended", "m", expect.objectContaining({ outputTokens: 3, cachedInputTokens: 4 })],
  ]);
});

test.each<[string, Partial<EngineOutput>, bigint]>([
  ["what the engine counted", { usage: usage(7, 0) }, 7n],
  ["an estimate where the engine has not counted yet", {}, 42n],
  ["an estimate where the engine only shows a lower bound", { usage: { ...usage(3, 1), isLowerBound: true } }, 42n],
])("the start tells the prompt's tokens: %s", async (_, first, told) => {
  const script = [
    { events: [], ...first },
    { events: [text("Hello")], usage: usage(7, 3), finish: FinishReason.STOP },
  ];
  for (const gathered of [false, true]) {
    const { events, ended } = await run(script, { gathered });
    expect(events[0]).toMatchObject({ case: "started", value: { inputTokens: told } });
    expect(events.at(-1)).toMatchObject({ case: "finished", value: { usage: { inputTokens: 7n } } });
    expect(ended).toEqual([["settled", usage(7, 3), "completed"]]);
  }
});

test("a gathered answer is one message, settled before it", async () => {
  const script: EngineOutput[] = [
    { events: [text("Hel")], usage: usage(7, 1) },
    { events: [text("lo")], usage: usage(7, 2) },
    { events: [], usage: usage(7, 3), finish: FinishReason.STOP },
  ];
  const { events, ended } = await run(script, { gathered: true, take: 1, abort: true });
  expect(events.map(({ case: kind }) => kind)).toEqual(["started", "text", "finished"]);
  expect(events[1]).toMatchObject({ value: "Hello" });
  expect(ended).toEqual([["settled", usage(7, 3), "completed"]]);
});

test.each<[string, Parameters<typeof run>, Awaited<ReturnType<typeof run>>["ended"]]>([
  [
    "the caller leaves",
    [[{ events: [text("a")], usage: usage(5, 1) }, { events: [text("b")] }], { take: 1 }],
    [["settled", usage(5, 1), "cancelled"]],
  ],
  [
    "the caller's signal aborts the engine",
    [[{ events: [text("a")], usage: usage(5, 1) }, aborted], { take: 1, abort: true }],
    [["settled", usage(5, 1), "cancelled"]],
  ],
  ["the engine never begins", [[failure(Reason.OVERLOADED, "full")]], [["released"]]],
  [
    "the engine breaks midway",
    [[{ events: [text("a")], usage: usage(5, 1) }, aborted]],
    [["settled", usage(5, 1), "failed"]],
  ],
  [
    "the engine breaks midway in an answer that is wanted gathered",
    [[{ events: [text("a")], usage: usage(5, 1) }, aborted], { gathered: true }],
    [["settled", usage(5, 1), "failed"]],
  ],
  [
    "the engine ends without a finish",
    [[{ events: [text("a")], usage: usage(5, 1) }]],
    [["settled", usage(5, 1), "failed"]],
  ],
])("settles once when %s", async (_, args, expected) => {
  const { ended, engineStopped } = await run(...args);
  expect(ended).toEqual(expected);
  expect(engineStopped).toBe(true);
});

test.each([
  ["has the request, tells what it may have read", true, [["released", usage(3, 0)]]],
  ["has not got the request yet, tells nothing", false, [["released"]]],
])("a caller who leaves while a server %s", async (_, isSent, expected) => {
  const { hold, ended } = recordingHold(100);
  const leaving = new AbortController();
  const fleet = {
    // biome-ignore lint/correctness/useYield: it never answers.
    async *generate(_model: object, { onSent }: { onSent?: () => void }) {
      if (isSent) {
        onSent?.();
      }
      leaving.abort();
      throw aborted;
    },
  };
  const planned = {
    model: { id: "m" },
    hold,
    request: { requestId: "req_1", prompt: { case: "text", value: "three short words" } },
  } as unknown as PlannedGeneration;
  const deps = {
    fleet: fleet as unknown as Fleet,
    logger: silent,
    observer: unobserved,
    clock: { monotonic: () => 0 },
  };
  const answer = generation(planned, { receivedAt: 0, surface: "grpc", asked() {} }, deps, leaving.signal);
  await expect(answer.next()).rejects.toThrow("aborted");
  expect(ended).toEqual(expected);
});

test("an answer without any count is an error with an alarm, not a free answer", async () => {
  const { events, ended, alarms, observed, error } = await run([
    { events: [text("a")] },
    { events: [], finish: FinishReason.STOP },
  ]);
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  expect(events.map((event) => event.case)).toEqual(["started", "text"]);
  expect(ended).toEqual([["released"]]);
  expect(observed).toEqual([
    ["began", "m"],
    ["unbilled", "m"],
  ]);
  expect(alarms).toEqual(["unbilled usage: the engine gave no count"]);
});

test("an engine that passes its output limit is cut off and its count is charged", async () => {
  const { events, ended, engineStopped } = await run(
    [
      { events: [text("a")], usage: usage(5, 2) },
      { events: [text("b")], usage: usage(5, 3) },
      { events: [text("c")], usage: usage(5, 4) },
    ],
    { cap: 2 },
  );
  expect(events.map((event) => event.case)).toEqual(["started", "text", "text", "finished"]);
  expect(events.at(-1)?.value).toMatchObject({ reason: FinishReason.LENGTH });
  expect(ended).toEqual([["settled", usage(5, 3), "completed"]]);
  expect(engineStopped).toBe(true);
});
