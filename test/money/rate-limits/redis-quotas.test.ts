import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { RedisWindows } from "#src/money/rate-limits/redis.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../../scripts/test-services/redis.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { startDoor } from "../../support/door.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";

let server: Awaited<ReturnType<typeof startOwnRedis>>;
let redis: Redis;
beforeAll(async () => {
  server = await startOwnRedis(await freePort()); // cores of other tests would count in the shares
  redis = new Redis(server.url);
}, 120_000);
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const opened: RedisWindows[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((windows) => windows.close()));
});

async function open(url = server.url, clock = systemClock): Promise<RedisWindows> {
  const windows = await RedisWindows.open({ url, clock, random: systemRandom, logger: silentLogger, timeoutMs: 2000 });
  opened.push(windows);
  return windows;
}

const begin = (core: RedisWindows, name: string, limit: number, amount = 1, rpm = 1000) =>
  core.begin(v7(), rpm, [{ name, limit, amount }]);

const fieldsOf = (name: string) => redis.hgetall(`tollgate:quota:${name}`);

/** Waits until the server knows that a quota has so much left of what runs hold. */
const heldIs = (name: string, amount: number) =>
  eventually(`${amount} held`, async () => {
    const fields = Object.entries(await fieldsOf(name)).filter(([field]) => field.startsWith(":"));
    return fields.reduce((sum, [, value]) => sum + Number(value.split(" ")[0]), 0) === amount;
  });

/** Moves all that a quota knows into the past. */
async function age(name: string, seconds: number): Promise<void> {
  for (const [field, value] of Object.entries(await fieldsOf(name))) {
    const [amount, time] = value.split(" ");
    await redis.hdel(`tollgate:quota:${name}`, field);
    const aged = field.startsWith(":") ? field : String(Number(field) - seconds);
    await redis.hset(`tollgate:quota:${name}`, aged, `${amount} ${Number(time) - seconds * 1e6}`);
  }
}

test("cores that share a server give so many places together, not each, and one that is left is free at once", async () => {
  const cores = await Promise.all([open(), open(), open()]);
  const name = v7();
  const runs = await Promise.all(cores.flatMap((core) => Array.from({ length: 20 }, () => begin(core, name, 25))));
  const running = runs.filter(({ full }) => full === undefined);
  expect(running).toHaveLength(25);
  const [refused] = runs.filter(({ full }) => full === 0);
  expect(refused?.quotas).toEqual([{ limit: 25, used: 25, waitMs: 1000, resetAfterMs: 60_000 }]);
  running[0]?.end([0]);
  running[0]?.end([0]);
  await heldIs(name, 24);
  const [first, second] = [
    await begin(cores[0] as RedisWindows, name, 25),
    await begin(cores[1] as RedisWindows, name, 25),
  ];
  expect([first.full, second.full]).toEqual([undefined, 0]);
  for (const run of [...running, first]) {
    run.end([0]);
  }
  await heldIs(name, 0);
});

test("tokens count with the bound while a request runs and with the count for a minute after it", async () => {
  const core = await open();
  const name = v7();
  const run = await begin(core, name, 1000, 800);
  expect(run.quotas[0]).toMatchObject({ used: 800, limit: 1000, resetAfterMs: 60_000 });
  expect((await begin(core, name, 1000, 300)).full).toBe(0);
  run.end([250]);
  await heldIs(name, 0);
  const next = await begin(core, name, 1000, 700);
  expect(next.quotas[0]).toMatchObject({ used: 950 });
  next.end([700]);
  await heldIs(name, 0);
  const refused = await begin(core, name, 1000, 300);
  const { waitMs = 0, used } = refused.quotas[0] ?? {};
  expect([refused.full, used]).toEqual([0, 950]);
  expect(waitMs).toBeGreaterThan(30_000);
  expect(waitMs).toBeLessThanOrEqual(60_000);
  await age(name, 30);
  expect((await begin(core, name, 1000, 300)).full).toBe(0);
  await age(name, 32);
  expect((await begin(core, name, 1000, 1000)).full).toBeUndefined();
});

test("a run whose bound is above the whole limit has its turn when nothing counts", async () => {
  const core = await open();
  const name = v7();
  const small = await begin(core, name, 100, 10);
  expect((await begin(core, name, 100, 5000)).full).toBe(0);
  small.end([0]);
  await heldIs(name, 0);
  expect((await begin(core, name, 100, 5000)).full).toBeUndefined();
  expect((await begin(core, name, 100, 1)).full).toBe(0);
});

test("a request takes nothing that its requests a minute refuse, and counts none that a quota refuses", async () => {
  const core = await open();
  const [key, name] = [v7(), v7()];
  const demands = [{ name, limit: 2, amount: 1 }];
  expect((await core.begin(key, 2, demands)).window).toMatchObject({ admitted: true, used: 1 });
  expect((await core.begin(key, 2, demands)).window).toMatchObject({ admitted: true, used: 2 });
  const full = await core.begin(key, 3, demands);
  expect([full.full, full.window.used]).toEqual([0, 2]);
  const other = [{ name: v7(), limit: 2, amount: 1 }];
  const refused = await core.begin(key, 2, other);
  expect([refused.full, refused.window.admitted]).toEqual([undefined, false]);
  refused.end([5]);
  expect(await fieldsOf(other[0]?.name ?? "")).toEqual({});
});

test("what a core held that is gone is free again when it has not been heard of for 15 seconds", async () => {
  const [dead, living] = [await open(server.url, new ManualClock()), await open()]; // a clock that stands never tells again
  const name = v7();
  await begin(dead, name, 2, 2);
  expect((await begin(living, name, 2)).full).toBe(0);
  await age(name, 5);
  expect((await begin(living, name, 2)).full).toBe(0);
  await age(name, 11);
  expect((await begin(living, name, 2)).full).toBeUndefined();
});

test("a core tells again and again what it holds, also of a server that has lost it", async () => {
  const clock = new ManualClock();
  const core = await open(server.url, clock);
  const name = v7();
  const run = await begin(core, name, 2, 2);
  await redis.del(`tollgate:quota:${name}`);
  clock.advance(5000);
  await heldIs(name, 2);
  expect((await begin(core, name, 2)).full).toBe(0);
  await age(name, 14);
  await eventually("its mark is new", async () => {
    clock.advance(5000);
    const [held] = Object.values(await fieldsOf(name));
    const [seconds] = await redis.time();
    return Number(held?.split(" ")[1]) > (Number(seconds) - 5) * 1e6;
  });
  run.end([0]);
  await heldIs(name, 0);
});

test("what the server counts of ends that it never heard of is free again, though runs begin all the time", async () => {
  const clock = new ManualClock();
  const core = await open(server.url, clock);
  const name = v7();
  const run = await begin(core, name, 100);
  const [field = "", value = ""] = Object.entries(await fieldsOf(name))[0] ?? [];
  await redis.hset(`tollgate:quota:${name}`, field, `100 ${value.split(" ")[1]}`); // 99 have ended while it was away
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      (await begin(core, name, 100, 1, 1e9)).end([0]);
    }
  };
  const clients = Array.from({ length: 8 }, client);
  try {
    await eventually("no more is held than runs and begins", async () => {
      clock.advance(5000);
      const [amount = "100"] = (await fieldsOf(name))[field]?.split(" ") ?? [];
      return Number(amount) <= 1 + clients.length;
    });
    expect((await begin(core, name, 100, 50)).full).toBeUndefined();
  } finally {
    isOver = true;
    await Promise.all(clients);
    run.end([0]);
  }
}, 60_000);

test("quotas vanish from the server when nothing counts any more", async () => {
  const core = await open();
  const name = v7();
  (await begin(core, name, 10, 5)).end([5]);
  await heldIs(name, 0);
  expect(await redis.pttl(`tollgate:quota:${name}`)).toBeGreaterThan(60_000);
  (await begin(core, v7(), 10)).end([0]);
  expect(await redis.pttl(`tollgate:quota:${name}`)).toBeLessThanOrEqual(76_000);
});

test("while the server is away each core gives its share, and what runs elsewhere ends there", async () => {
  await redis.del("tollgate:cores");
  const door = await startDoor(server.url);
  const clock = new ManualClock();
  await open();
  const core = await open(door.url, clock); // it sees two cores
  const name = v7();
  const before = await begin(core, name, 10, 10);
  await door.shut();
  const alone = [];
  for (let i = 0; i < 8; i++) {
    alone.push(await begin(core, name, 10));
  }
  expect(alone.filter(({ full }) => full === undefined)).toHaveLength(5);
  expect(alone.at(-1)?.quotas[0]?.limit).toBe(5);
  before.end([3]);
  for (const run of alone) {
    run.end([0]);
  }
  const counted = await begin(core, name, 10);
  expect(counted.quotas[0]).toMatchObject({ used: 4, limit: 5 });
  await door.open();
  await eventually("the server is asked again", async () => {
    clock.advance(5000);
    const run = await begin(core, v7(), 10);
    run.end([0]);
    return run.quotas[0]?.limit === 10;
  });
  await door.shut();
});
