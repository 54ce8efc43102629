import { expect, test } from "@jest/globals";
import { BreakerState, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
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
