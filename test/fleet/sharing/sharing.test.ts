import { expect, test } from "@jest/globals";
import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { FleetChannel } from "#src/fleet/sharing/channel.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { chatRequest } from "../engines/requests.ts";
import { broken } from "../fake-engine.ts";
import { type Fixture, fixture, settle } from "../fixture.ts";

/** Cores that hear each other at once, unless the line is cut. */
function cores(capacities: readonly number[], count = 2) {
  const clock = new ManualClock();
  const hearers: ((message: Uint8Array) => void)[] = [];
  const line = { isCut: false, renewed: 0 };
  const channel = (): FleetChannel => ({
    send(message) {
      for (const hear of line.isCut ? [] : hearers) {
        hear(message);
      }
    },
    listen: (hear) => void hearers.push(hear),
    renew: () => void line.renewed++,
    close: async () => {},
  });
  const start = (seed: number) =>
    fixture(capacities, { routing: "prefix" }, {}, undefined, { clock, channel: channel(), seed });
  const fleets = Array.from({ length: count }, (_, core) => start(core + 1));
  return { fleets: fleets as [Fixture, Fixture], clock, line, join: () => start(count + 1) };
}

/** Which server of a core has had the latest request. */
function latest({ engines }: Fixture, before: readonly number[]): number {
  return engines.findIndex(({ requests }, at) => requests.length > (before[at] as number));
}

const counts = ({ engines }: Fixture) => engines.map(({ requests }) => requests.length);

async function serverOf(core: Fixture, text: string): Promise<number> {
  const before = counts(core);
  await core.run(chatRequest(text));
  return latest(core, before);
}

test("a place that one core has taken is taken for the others", async () => {
  const { fleets, clock } = cores([1]);
  const [one, other] = fleets;
  await settle();
  const ends = Promise.withResolvers<void>();
  one.engines[0]?.scripts.push([ends.promise]);
  const first = one.run();
  await settle();
  clock.advance(20);
  const second = other.run();
  await settle();
  expect([other.fleet.waiting("m"), other.fleet.utilisation("m")]).toEqual([1, 2]);
  ends.resolve();
  await first;
  await expect(clock.until(second)).resolves.toHaveLength(2);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("a place that becomes free is not taken by all cores at once", async () => {
  const { fleets, clock } = cores([1], 8);
  await settle();
  const ends = Promise.withResolvers<void>();
  const later = Promise.withResolvers<void>();
  fleets[0].engines[0]?.scripts.push([ends.promise]);
  const runs = [fleets[0].run()];
  await settle();
  clock.advance(20);
  const others = fleets.slice(1);
  for (const other of others) {
    other.engines[0]?.scripts.push([later.promise]);
    runs.push(other.run());
  }
  await settle();
  ends.resolve();
  await runs[0];
  for (let ms = 0; ms < 200; ms++) {
    await clock.advanceAsync(1);
  }
  const taken = others.filter(({ engines }) => engines[0]?.requests.length === 1).length;
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThanOrEqual(2); // two draw nearly the same time now and then
  later.resolve();
  await clock.until(Promise.all(runs));
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("a conversation goes on where another core has begun it", async () => {
  const { fleets, clock } = cores([10, 10, 10, 10, 10, 10, 10, 10]);
  const [one, other] = fleets;
  await settle();
  for (let chat = 0; chat < 10; chat++) {
    const text = `chat ${chat} `.repeat(1000);
    const began = await serverOf(one, text);
    clock.advance(20);
    expect(await serverOf(other, text)).toBe(began);
  }
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("a core tells what the others run on a server and which of them give it no work, while they live", async () => {
  const { fleets, clock, line } = cores([10, 10, 10], 3);
  const [one, other] = fleets;
  await settle();
  const ends = Promise.withResolvers<void>();
  for (const engine of one.engines) {
    engine.scripts.push([ends.promise]);
  }
  const running = one.run();
  await settle();
  clock.advance(20);
  const view = () => other.fleet.servers().map(({ inFlight, inFlightElsewhere }) => [inFlight, inFlightElsewhere]);
  expect(view().toSorted()).toEqual([
    [0, 0],
    [0, 0],
    [0, 1],
  ]);
  ends.resolve();
  await running;
  const [failing] = one.engines;
  failing?.scripts.splice(0, failing.scripts.length, [broken()], [broken()], [broken()]);
  const opened = () => one.fleet.servers().findIndex(({ breaker }) => breaker === BreakerState.OPEN);
  for (let request = 0; request < 100 && opened() < 0; request++) {
    await one.run();
  }
  clock.advance(1000);
  const avoided = () => other.fleet.servers().map(({ avoidedElsewhere }) => avoidedElsewhere > 0);
  expect(avoided()).toEqual([true, false, false]);
  line.isCut = true;
  clock.advance(5000);
  expect(avoided()).toEqual([false, false, false]);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("a server that fails one core is left alone by the others, unless most servers do", async () => {
  const { fleets, clock } = cores([10, 10, 10]);
  const [one, other] = fleets;
  await settle();
  const breakers = () => other.fleet.servers().map(({ breaker }) => breaker === BreakerState.OPEN);
  for (const engine of one.engines) {
    engine.scripts.push([broken()], [broken()], [broken()]);
  }
  for (let request = 0; request < 3; request++) {
    await expect(one.run(chatRequest(`${request}`))).rejects.toThrow();
  }
  clock.advance(20);
  expect(one.fleet.servers().every(({ breaker }) => breaker === BreakerState.OPEN)).toBe(true);
  expect(breakers().filter(Boolean)).toHaveLength(1);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("a core that comes later is told which servers others have trouble with", async () => {
  const { fleets, clock, join } = cores([10, 10, 10]);
  const [one] = fleets;
  await settle();
  one.engines[0]?.scripts.push([broken()], [broken()], [broken()]);
  const states = ({ fleet }: Fixture) => fleet.servers().map(({ breaker }) => breaker);
  for (let request = 0; request < 100 && states(one)[0] !== BreakerState.OPEN; request++) {
    await one.run();
  }
  const late = join();
  await settle();
  clock.advance(20);
  expect(states(late)).toEqual([BreakerState.OPEN, BreakerState.CLOSED, BreakerState.CLOSED]);
  await Promise.all([...fleets, late].map(({ fleet }) => fleet.close()));
});

test("cores that lose touch say so, forget each other, and send a session to the same server without a word", async () => {
  const { fleets, clock, line } = cores([10, 10, 10, 10, 10, 10, 10, 10]);
  const [one, other] = fleets;
  await settle();
  one.engines[0]?.scripts.push(["silence"]);
  clock.advance(20);
  expect([one.fleet.sharing?.isInTouch, one.fleet.sharing?.cores]).toEqual([true, 1]);
  line.isCut = true;
  clock.advance(5000);
  expect([one.fleet.sharing?.isInTouch, one.fleet.sharing?.cores]).toEqual([false, 0]);
  const texts = Array.from({ length: 12 }, (_, chat) => `chat ${chat} `.repeat(100));
  const found: number[][] = [];
  for (const core of [one, other]) {
    core.engines[0]?.scripts.splice(0);
    const servers: number[] = [];
    for (const text of texts) {
      servers.push(await serverOf(core, text));
    }
    found.push(servers);
  }
  expect(found[0]).toEqual(found[1]);
  expect(new Set(found[0]).size).toBeGreaterThan(2);
  line.isCut = false;
  clock.advance(2000);
  expect([one.fleet.sharing?.isInTouch, one.fleet.sharing?.cores]).toEqual([true, 1]);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("what a core had that is gone is free again", async () => {
  const { fleets, clock } = cores([2]);
  const [one, other] = fleets;
  await settle();
  one.engines[0]?.scripts.push(["silence"]);
  const stopping = new AbortController();
  const run = one.run({}, stopping.signal);
  await settle();
  clock.advance(20);
  expect(other.fleet.utilisation("m")).toBe(0.5);
  await one.fleet.close();
  clock.advance(6000);
  expect(other.fleet.utilisation("m")).toBe(0);
  stopping.abort();
  await expect(run).rejects.toThrow();
  await other.fleet.close();
});

/** Has a core make all its servers anew. */
const remake = ({ fleet, model }: Fixture) =>
  fleet.prepare([{ ...model, system_anywhere: !model.system_anywhere }]).apply();

test("what others run on a server counts once after the server was made anew", async () => {
  const { fleets, clock } = cores([2]);
  const [one, other] = fleets;
  await settle();
  const ends = Promise.withResolvers<void>();
  one.engines[0]?.scripts.push([ends.promise]);
  const running = one.run();
  await settle();
  clock.advance(20);
  remake(other);
  expect(other.fleet.utilisation("m")).toBe(0.5);
  clock.advance(2000);
  expect(other.fleet.utilisation("m")).toBe(0.5);
  ends.resolve();
  await running;
  clock.advance(2000);
  expect(other.fleet.utilisation("m")).toBe(0);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("what a core still runs on a server that was made anew, or is gone, is shown and told to others", async () => {
  const { fleets, clock } = cores([2]);
  const [one, other] = fleets;
  await settle();
  const ends = Promise.withResolvers<void>();
  one.engines[0]?.scripts.push([ends.promise]);
  const runs = [one.run()];
  await settle();
  remake(one);
  one.engines[1]?.scripts.push([ends.promise]);
  runs.push(one.run());
  await settle();
  clock.advance(2000);
  const view = () => [one, other].flatMap(({ fleet }) => fleet.servers());
  expect(view().map(({ inFlight, inFlightElsewhere }) => [inFlight, inFlightElsewhere])).toEqual([
    [2, 0],
    [0, 2],
  ]);
  one.fleet.prepare([]).apply();
  clock.advance(2000);
  expect(other.fleet.utilisation("m")).toBe(1);
  ends.resolve();
  await Promise.all(runs);
  clock.advance(20);
  expect(other.fleet.utilisation("m")).toBe(0);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});

test("a core that does not hear itself for five seconds makes its connection anew, and again after as long", async () => {
  const { fleets, clock, line } = cores([1], 1);
  await settle();
  clock.advance(20_000);
  expect(line.renewed).toBe(0);
  line.isCut = true;
  clock.advance(4000);
  expect(line.renewed).toBe(0);
  clock.advance(2000);
  expect(line.renewed).toBe(1);
  clock.advance(5000);
  expect(line.renewed).toBe(2);
  line.isCut = false;
  clock.advance(20_000);
  expect(line.renewed).toBe(2);
  await Promise.all(fleets.map(({ fleet }) => fleet.close()));
});
