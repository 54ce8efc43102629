import { expect, test } from "@jest/globals";
import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { configSchema } from "#src/config/schema.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { Place } from "#src/fleet/servers/place.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { broken, FakeEngine, whole } from "../fake-engine.ts";
import { fixture, settle } from "../fixture.ts";

const restMs = 5000;

test("failures in a row open the breaker, one request tries it again", async () => {
  const fleet = fixture([4, 4]);
  const [first, second] = fleet.engines;
  first?.scripts.push([broken()], [broken()], [broken()], [broken()]);
  for (let i = 0; i < 6; i++) {
    expect(await fleet.run()).toEqual(whole);
  }
  expect(first?.requests).toHaveLength(3);
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
  fleet.clock.advance(restMs);
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.HALF_OPEN);
  for (let i = 0; i < 2; i++) {
    expect(await fleet.run()).toEqual(whole);
  }
  expect(first?.requests).toHaveLength(4);
  expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
  fleet.clock.advance(restMs);
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
  fleet.clock.advance(restMs);
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

const { models } = configSchema.parse({
  models: [{ id: "m", servers: [{ url: "http://gpu:8000", capacity: 8 }] }],
});

/** A server by itself, and what opens its breaker and lets its open time pass. */
function serverAlone() {
  const clock = new ManualClock();
  const [server] = models[0]?.servers ?? [];
  const member = new Member("gpu", "m", server as never, new FakeEngine(), { clock, openMs: restMs, onFree: () => {} });
  const place = () => {
    const footprint = { prompt: 1, output: 1 };
    return new Place({ member, uncachedTokens: 0 } as never, { key: "" }, footprint, clock.monotonic());
  };
  const halfOpen = () => {
    for (let failures = 0; failures < 3; failures++) {
      member.breaker.failed();
    }
    clock.advance(restMs);
    expect(member.breaker.state).toBe(BreakerState.HALF_OPEN);
  };
  return { clock, member, place, halfOpen };
}

test("the end of a request from before the breaker opened makes no room beside the trial", () => {
  const { member, place, halfOpen } = serverAlone();
  const older = place();
  halfOpen();
  const trial = place();
  expect(member.available).toBe(false);
  older.leave();
  expect(member.available).toBe(false);
  trial.leave();
  expect(member.available).toBe(true);
});

test("the end of a trial from before the breaker opened anew makes no room beside the next one", () => {
  const { clock, member, place, halfOpen } = serverAlone();
  halfOpen();
  const first = place();
  member.breaker.failed();
  clock.advance(restMs);
  const second = place();
  first.leave();
  expect(member.available).toBe(false);
  second.leave();
  expect(member.available).toBe(true);
});
