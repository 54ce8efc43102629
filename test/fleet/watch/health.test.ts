import { describe, expect, test } from "@jest/globals";
import { BreakerState, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { unrefusedInput } from "#src/fleet/engines/shared/faults.ts";
import { broken, output, unreachable, whole } from "../fake-engine.ts";
import { fixture, settle } from "../fixture.ts";

const interval = 5000;

/** Lets health checks come round. */
async function rounds({ clock }: ReturnType<typeof fixture>, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    clock.advance(interval);
    await settle();
  }
}

test("a server that fails its checks is out within three intervals and back within one", async () => {
  const fleet = fixture([1, 1]);
  const [first] = fleet.engines;
  await settle();
  if (first) {
    first.health = broken();
  }
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]?.state).toBe(ServerState.HEALTHY);
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]).toMatchObject({ state: ServerState.UNHEALTHY, lastError: "it broke" });
  const up = { server: "server-0:8000/m", model: "m", isUp: true, reason: "" };
  const passedFirst = [up, { ...up, server: "server-1:8000/m" }];
  const down = { ...up, isUp: false, reason: "it broke" };
  expect(fleet.changes).toEqual([...passedFirst, down]);
  for (let i = 0; i < 4; i++) {
    await fleet.run();
  }
  expect(first?.requests).toHaveLength(0);
  if (first) {
    first.health = undefined;
  }
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]?.state).toBe(ServerState.HEALTHY);
  expect(fleet.changes).toEqual([...passedFirst, down, up]);
  for (let i = 0; i < 4; i++) {
    await fleet.run();
  }
  expect(first?.requests.map(({ runId }) => runId)).toEqual([expect.stringMatching(/^trial-/), "run-1", "run-1"]);
});

test("a server that comes back answers one request that nobody waits for first", async () => {
  const fleet = fixture([1]);
  const [engine] = fleet.engines;
  if (engine) {
    engine.health = broken();
  }
  await settle();
  await rounds(fleet, 2);
  if (engine) {
    engine.health = undefined;
  }
  engine?.scripts.push([broken()], whole);
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]?.state).toBe(ServerState.UNHEALTHY);
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]?.state).toBe(ServerState.HEALTHY);
  expect(engine?.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([1, 1]);
});

test("a server that refuses connections is out at once, and back as soon as it listens", async () => {
  const fleet = fixture([1], { queue_timeout_s: 60 });
  const [engine] = fleet.engines;
  await settle();
  if (engine) {
    engine.health = unreachable();
  }
  engine?.scripts.push([unreachable()]);
  await expect(fleet.run()).rejects.toThrow("failed");
  expect(fleet.fleet.servers()[0]).toMatchObject({ state: ServerState.UNHEALTHY, lastError: "ECONNREFUSED" });
  await expect(fleet.run()).rejects.toThrow("No server of this model is up.");
  if (engine) {
    engine.health = undefined;
  }
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]?.state).toBe(ServerState.HEALTHY);
  expect(await fleet.run()).toEqual(whole);
});

test("a failed request brings the next check forward, and a failed check is enough then", async () => {
  const fleet = fixture([1]);
  const [engine] = fleet.engines;
  await settle();
  fleet.clock.advance(2000);
  if (engine) {
    engine.health = broken();
  }
  engine?.scripts.push([broken()], [broken()]);
  await expect(fleet.run()).rejects.toThrow("failed");
  await settle();
  expect(engine?.checks).toBe(2);
  expect(fleet.fleet.servers()[0]?.state).toBe(ServerState.UNHEALTHY);
});

test("a server that fails much is not checked much", async () => {
  const fleet = fixture([1]);
  const [engine] = fleet.engines;
  await settle();
  fleet.clock.advance(2000);
  for (let i = 0; i < 2; i++) {
    engine?.scripts.push([broken()]);
    await expect(fleet.run()).rejects.toThrow("failed");
    await settle();
  }
  expect(engine?.checks).toBe(2);
});

describe("an embedding server", () => {
  const model = { kind: "embedding" as const, dimensions: 2 };
  /** Counts the words of either kind. */
  const vectorOf = (input: string) => Float32Array.from(["word", "mark"].map((word) => input.split(word).length - 1));
  const state = ({ fleet }: ReturnType<typeof fixture>) => fleet.servers()[0]?.state;

  test("is fit once it has refused an input that is too long", async () => {
    const fleet = fixture([1], {}, model);
    expect(state(fleet)).toBe(ServerState.UNHEALTHY);
    await settle();
    expect(state(fleet)).toBe(ServerState.HEALTHY);
  });

  test("is unfit when it cuts one", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = () => ({ vectors: [engine.vector], inputTokens: 100 });
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.UNHEALTHY);
    expect(fleet.fleet.servers()[0]?.lastError).toContain("cuts long inputs");
  });

  test("may take more than is promised", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = (input) => ({ vectors: [vectorOf(input)], inputTokens: 200 });
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.HEALTHY);
  });

  test("may take more than is promised and leave its refusal to us", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = (input) => {
        if (input.split(" ").length > 100) {
          throw unrefusedInput(0, 100, 164);
        }
        return { vectors: [vectorOf(input)], inputTokens: 60 };
      };
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.HEALTHY);
  });

  test("is unfit when it reads only the beginning of what it may take, whatever it counts", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = (input) => ({ vectors: [vectorOf(input.slice(0, 100))], inputTokens: input.split(" ").length });
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.UNHEALTHY);
    expect(fleet.fleet.servers()[0]?.lastError).toContain("cuts inputs silently that are shorter than 100 tokens");
  });
});

test("while no server is up, requests are told so and when to come again, and one that comes back takes them", async () => {
  const fleet = fixture([1], { queue_timeout_s: 60, health_interval_s: 5 });
  const [engine] = fleet.engines;
  if (engine) {
    engine.health = broken();
  }
  await settle();
  await rounds(fleet, 2);
  const refusal = await fleet.run().catch((error: unknown) => error);
  expect(readDetail(refusal)).toMatchObject({ reason: Reason.NO_SERVER, retryAfter: { seconds: 5n } });
  expect(engine?.requests).toHaveLength(0);
  if (engine) {
    engine.health = undefined;
  }
  await rounds(fleet, 1);
  expect(await fleet.run()).toEqual(whole);
});

test("shows what a server tells of its load", async () => {
  const fleet = fixture([1]);
  for (const engine of fleet.engines) {
    engine.load = { running: 3, waiting: 2, kvUsage: 0.5, cacheQueries: 100, cacheHits: 25 };
  }
  await settle();
  await rounds(fleet, 1);
  expect(fleet.fleet.servers()[0]).toMatchObject({
    id: "server-0:8000/m",
    url: "http://server-0:8000",
    model: "m",
    engine: "vllm",
    routing: "round-robin",
    running: 3,
    queued: 2,
    kvUsage: 0.5,
    cacheHitRate: 0.25,
    capacity: 1,
    breaker: BreakerState.CLOSED,
  });
});

test("failures in a row open the breaker, one request tries it again", async () => {
  const fleet = fixture([4, 4]);
  const [first, second] = fleet.engines;
  first?.scripts.push([broken()], [broken()], [broken()], [broken()]);
  for (let i = 0; i < 6; i++) {
    expect(await fleet.run()).toEqual(whole);
  }
  expect(first?.requests).toHaveLength(3);
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
  fleet.clock.advance(interval);
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.HALF_OPEN);
  for (let i = 0; i < 2; i++) {
    expect(await fleet.run()).toEqual(whole);
  }
  expect(first?.requests).toHaveLength(4);
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
  fleet.clock.advance(interval);
  for (let i = 0; i < 2; i++) {
    expect(await fleet.run()).toEqual(whole);
  }
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.CLOSED);
  expect(second?.requests.length).toBeGreaterThan(5);
});

test("a server that is set up wrongly fails its requests fast, but not all that could go to it", async () => {
  const fleet = fixture([4, 4]);
  const [wrong] = fleet.engines;
  for (let i = 0; i < 20; i++) {
    wrong?.scripts.push([broken(false)]);
  }
  let failed = 0;
  for (let i = 0; i < 20; i++) {
    await fleet.run().catch(() => failed++);
  }
  expect(failed).toBe(3);
  expect(fleet.fleet.servers()[0]).toMatchObject({ breaker: BreakerState.OPEN, lastError: "it broke" });
});

test("only one request tries a half-open breaker", async () => {
  const fleet = fixture([4, 4]);
  const [first, second] = fleet.engines;
  first?.scripts.push([broken()], [broken()], [broken()], ["silence"]);
  for (let i = 0; i < 6; i++) {
    await fleet.run();
  }
  fleet.clock.advance(interval);
  const controller = new AbortController();
  void fleet.run({}, controller.signal).catch(() => {});
  void fleet.run({}, controller.signal).catch(() => {});
  await settle();
  for (let i = 0; i < 4; i++) {
    await fleet.run();
  }
  expect(first?.requests).toHaveLength(4);
  expect(second?.requests.length).toBeGreaterThan(4);
  controller.abort(new Error("client gone"));
  await settle();
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.HALF_OPEN);
  for (let i = 0; i < 2; i++) {
    await fleet.run();
  }
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.CLOSED);
});

test("a draining server finishes what it has and gets nothing new", async () => {
  const fleet = fixture([4, 4]);
  const [first] = fleet.engines;
  let free = () => {};
  first?.scripts.push([output(1), new Promise<void>((resolve) => (free = resolve)), ...whole]);
  const running = fleet.run();
  await settle();
  expect(fleet.fleet.drain("server-0:8000/m").state).toBe(ServerState.DRAINING);
  for (let i = 0; i < 4; i++) {
    await fleet.run();
  }
  expect(first?.requests).toHaveLength(1);
  free();
  expect(await running).toHaveLength(3);
  expect(fleet.fleet.resume("server-0:8000/m").state).toBe(ServerState.HEALTHY);
  for (let i = 0; i < 2; i++) {
    await fleet.run();
  }
  expect(first?.requests).toHaveLength(2);
});

test("requests wait while every server drains", async () => {
  const fleet = fixture([1]);
  fleet.fleet.drain("server-0:8000/m");
  const answer = fleet.run();
  await settle();
  fleet.fleet.resume("server-0:8000/m");
  expect(await answer).toEqual(whole);
});
