import { Code } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { collectGarbage } from "#lib/overload/collect-garbage.ts";
import type { RefusedRequest } from "#src/money/model/store/request.ts";
import { RequestRecorder } from "#src/telemetry/requests/recorder.ts";
import type { EndedCall } from "#src/wire/interceptors/observation/observe.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";

const account = "0199f0a0-0000-7000-8000-000000000001";

function call(facts: Partial<EndedCall> = {}): EndedCall {
  return {
    method: InferenceService.method.generate,
    requestId: "req_1",
    runId: "",
    code: Code.ResourceExhausted,
    reason: Reason.RATE_LIMITED,
    limit: undefined,
    model: "plain",
    refusedStatus: 0,
    isKeyless: false,
    caller: { account, keyId: "k", model: "plain", address: "10.0.0.0" },
    surface: "chat",
    server: "",
    ms: 1.4,
    ...facts,
  };
}

function open(take: (requests: readonly RefusedRequest[]) => Promise<void> = async () => {}) {
  const clock = new ManualClock();
  const written: RefusedRequest[] = [];
  const groups: number[] = [];
  const dropped = { sampled: 0, full: 0, store: 0 };
  const recorder = new RequestRecorder({
    store: {
      async recordRequests(requests) {
        await take(requests);
        groups.push(requests.length);
        written.push(...requests);
      },
    },
    statusOf: (_, reason) => (reason === Reason.RATE_LIMITED ? 429 : 500),
    keepDays: 7,
    most: 1000,
    dropped(reason, count) {
      dropped[reason] += count;
    },
    clock,
    logger: silentLogger,
  });
  return { recorder, clock, written, groups, dropped };
}

test("a refused request is written as what it was, and a finished one is not", async () => {
  const { recorder, clock, written } = open();
  recorder.observe(call());
  recorder.observe(call({ code: undefined, reason: undefined, caller: undefined }));
  await recorder.write();
  expect(written).toEqual([
    {
      ...{ requestId: "req_1", accountId: account, keyId: "k", surface: "chat", model: "plain" },
      ...{ reason: "RATE_LIMITED", httpStatus: 429, durationMs: 1, server: "", leftOut: 0, at: clock.now() },
    },
  ]);
});

test("a fault has a record too, a client that left has none, and neither has management over gRPC", async () => {
  const { recorder, written } = open();
  recorder.observe(call({ code: Code.Internal, reason: undefined }));
  recorder.observe(call({ code: Code.Canceled, reason: undefined }));
  recorder.observe(call({ surface: "grpc", method: SettingsService.method.getSettings }));
  recorder.observe(call({ surface: "grpc" }));
  await recorder.write();
  expect(written).toMatchObject([
    { reason: "UNSPECIFIED", httpStatus: 500 },
    { reason: "RATE_LIMITED", httpStatus: 0, surface: "grpc" },
  ]);
});

test("what a facade itself refuses has the status that it says", async () => {
  const { recorder, written } = open();
  for (const refusedStatus of [400, 413, 404]) {
    recorder.observe(call({ code: undefined, reason: undefined, refusedStatus }));
  }
  await recorder.write();
  expect(written.map(({ reason, httpStatus }) => [reason, httpStatus])).toEqual([
    ["INVALID_ARGUMENT", 400],
    ["REQUEST_TOO_LARGE", 413],
    ["UNSUPPORTED", 404],
  ]);
});

test("of a flood the record has the first, and the last with the count of those between", async () => {
  const { recorder, clock, written, dropped } = open();
  for (let at = 0; at < 10_000; at++) {
    recorder.observe(call({ requestId: `req_${at}` }));
  }
  recorder.observe(call({ requestId: "another", reason: Reason.BALANCE_EXHAUSTED }));
  clock.advance(10_000);
  await recorder.write();
  expect(written).toHaveLength(52);
  expect(written.at(-1)).toMatchObject({ requestId: "req_9999", leftOut: 9949 });
  expect(written.at(-2)).toMatchObject({ requestId: "another", leftOut: 0 });
  expect(dropped).toEqual({ sampled: 9949, full: 0, store: 0 });
});

test("a flood of ten seconds by as many callers as there are keeps a bounded number in memory, in small groups", async () => {
  const { recorder, clock, written, groups, dropped } = open();
  const flood = 100_000;
  for (let at = 0; at < flood; at++) {
    recorder.observe(call({ caller: { account: `a${at % 20_000}`, address: "" } }));
  }
  clock.advance(10_000);
  while (written.length === 0 || groups.at(-1) === 200) {
    await recorder.write();
  }
  expect(written).toHaveLength(2000);
  expect(Math.max(...groups)).toBe(200);
  expect(written.length + dropped.sampled + dropped.full).toBe(flood);
});

test("what a database that is away does not take waits in its order, and is written when it is back", async () => {
  let isAway = true;
  const { recorder, dropped, written } = open(() => (isAway ? Promise.reject(new Error("away")) : Promise.resolve()));
  recorder.observe(call());
  await recorder.write();
  recorder.observe(call({ requestId: "req_2" }));
  await recorder.write();
  isAway = false;
  await recorder.write();
  expect(written.map(({ requestId }) => requestId)).toEqual(["req_1", "req_2"]);
  expect(dropped.store).toBe(0);
});

test("while the database is away, a bounded number waits and the others are counted", async () => {
  const { recorder, dropped, written } = open(() => Promise.reject(new Error("away")));
  for (let at = 0; at < 2300; at++) {
    recorder.observe(call({ caller: { account: `a${at}`, address: "" } }));
    await recorder.write();
  }
  expect([dropped, written]).toEqual([{ sampled: 0, full: 300, store: 0 }, []]);
});

test("what comes while the database refuses a group leaves no room for all of it: the rest is counted", async () => {
  const { recorder, dropped } = open(async () => {
    observe(2000);
    throw new Error("away");
  });
  const observe = (count: number) => {
    for (let at = 0; at < count; at++) {
      recorder.observe(call({ caller: { account: `a${at}`, address: "" } }));
    }
  };
  observe(200);
  await recorder.write();
  expect(dropped.store).toBe(200);
});

test("a group that the database refuses for ten minutes is counted, and the next one is written", async () => {
  const { recorder, dropped, written } = open(async ([first]) => {
    if (first?.requestId === "req_1") {
      throw new Error("refused");
    }
  });
  recorder.observe(call());
  for (let tries = 0; tries < 2400; tries++) {
    expect(dropped.store).toBe(0);
    await recorder.write();
  }
  recorder.observe(call({ requestId: "req_2" }));
  await recorder.write();
  expect([dropped.store, written.map(({ requestId }) => requestId)]).toEqual([1, ["req_2"]]);
});

test("a process that ends does not wait for a database that is away", async () => {
  const { recorder, dropped } = open(() => Promise.reject(new Error("away")));
  const stop = recorder.start();
  for (let at = 0; at < 300; at++) {
    recorder.observe(call({ caller: { account: `a${at}`, address: "" } }));
  }
  await stop();
  expect(dropped.store).toBe(300);
});

test("what waits when the process ends is written", async () => {
  const { recorder, written } = open();
  const stop = recorder.start();
  recorder.observe(call());
  await stop();
  expect(written).toHaveLength(1);
});

test("a flood of ten thousand refusals a second, each from a network of its own, costs at most 50 MiB while nobody writes", () => {
  const { recorder, clock, dropped } = open();
  const used = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  let most = 0;
  let seen = 0;
  for (let second = 0; second < 20; second += 1) {
    for (let times = 0; times < 10_000; times += 1) {
      seen += 1;
      const address = `10.${(seen >> 16) & 255}.${(seen >> 8) & 255}.${seen & 255}`;
      const facts = { requestId: `req_${seen}`, reason: Reason.OVERLOADED, isKeyless: true };
      recorder.observe(call({ ...facts, caller: { address } }));
    }
    most = Math.max(most, used() - before);
    clock.advance(1000);
  }
  expect(most).toBeLessThan(50 * 1024 * 1024);
  expect(dropped.sampled + dropped.full).toBeGreaterThan(190_000);
});
