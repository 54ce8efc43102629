import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { RedisWindows } from "#src/money/rate-limits/redis.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../../scripts/test-services/redis.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { type Door, startDoor } from "../../support/door.ts";
import { eventually } from "../../support/eventually.ts";

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

const silenceMs = 3000;

async function open(url = server.url, clock = systemClock, warnings: string[] = []): Promise<RedisWindows> {
  const note = (_: object, message: string) => void warnings.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  const windows = await RedisWindows.open({ url, clock, random: systemRandom, logger, timeoutMs: 2000, silenceMs });
  opened.push(windows);
  return windows;
}

/** Moves a key's requests into the past, as if time had gone by. */
async function age(key: string, ms: number): Promise<void> {
  const times = await redis.lrange(`tollgate:rate:${key}`, 0, -1);
  await redis.del(`tollgate:rate:${key}`);
  for (const time of times) {
    await redis.rpush(`tollgate:rate:${key}`, String(Number(time) - ms * 1000));
  }
}

test("several cores admit the limit together, not each", async () => {
  const cores = await Promise.all([open(), open(), open()]);
  const key = v7();
  const outcomes = await Promise.all(cores.flatMap((core) => Array.from({ length: 20 }, () => core.admit(key, 25))));
  expect(outcomes.filter((outcome) => outcome.admitted)).toHaveLength(25);
  expect((await cores[0]?.read(key, 25))?.used).toBe(25);
});

test("a request is admitted when the wait is over and not before; refused ones count nothing", async () => {
  const core = await open();
  const key = v7();
  await core.admit(key, 2);
  await age(key, 40_000);
  await core.admit(key, 2);
  const refused = await core.admit(key, 2);
  expect(refused).toMatchObject({ admitted: false, used: 2, limit: 2 });
  expect(refused.waitMs).toBeGreaterThan(15_000);
  expect(refused.waitMs).toBeLessThanOrEqual(20_000);
  expect(refused.resetAfterMs).toBeGreaterThan(55_000);
  for (let i = 0; i < 5; i++) {
    await core.admit(key, 2);
  }
  await age(key, Math.ceil(refused.waitMs / 1000) * 1000);
  expect(await core.admit(key, 2)).toMatchObject({ admitted: true, used: 2 });
});

test("ten seconds before the wait is over a request is refused", async () => {
  const core = await open();
  const key = v7();
  await core.admit(key, 1);
  await age(key, 30_000);
  const { waitMs } = await core.admit(key, 1);
  await age(key, Math.ceil(waitMs / 1000) * 1000 - 10_000);
  expect((await core.admit(key, 1)).admitted).toBe(false);
});

test("a lowered limit holds at once", async () => {
  const core = await open();
  const key = v7();
  for (let i = 0; i < 4; i++) {
    await core.admit(key, 4);
  }
  await age(key, 10_000);
  await core.admit(key, 5);
  const refused = await core.admit(key, 2);
  expect(refused).toMatchObject({ admitted: false, used: 5 });
  expect(refused.waitMs).toBeLessThanOrEqual(50_000);
  expect(await core.read(key, 1)).toMatchObject({ used: 5 });
  expect((await core.read(key, 1)).waitMs).toBeGreaterThan(55_000);
});

test("a server clock that goes back neither opens the limit nor locks the key out", async () => {
  const core = await open();
  const key = v7();
  await core.admit(key, 2);
  await age(key, 20_000);
  await core.admit(key, 2);
  await age(key, -3_600_000);
  const refused = await core.admit(key, 2);
  expect(refused.admitted).toBe(false);
  expect(refused.waitMs).toBeLessThanOrEqual(40_000);
});

test("keys vanish from the server a minute after their last request", async () => {
  const core = await open();
  const key = v7();
  await core.admit(key, 2);
  expect(await redis.pttl(`tollgate:rate:${key}`)).toBeGreaterThan(0);
});

test.each(["shut", "hang", "forsake"] as const)(
  "while the server is away (%s) each core applies its share, then they share again",
  async (how) => {
    await redis.del("tollgate:cores");
    const door: Door = await startDoor(server.url);
    const clock = new ManualClock();
    const warnings: string[] = [];
    await open();
    const core = await open(door.url, clock, warnings); // it sees two cores
    const key = v7();
    expect((await core.admit(key, 10)).limit).toBe(10);
    expect(core.areShared).toBe(true);

    await door[how]();
    const alone = [];
    for (let i = 0; i < 20; i++) {
      alone.push(await core.admit(key, 10));
    }
    expect(alone.filter((outcome) => outcome.admitted)).toHaveLength(5);
    expect(alone.at(-1)).toMatchObject({ limit: 5, waitMs: 60_000 });
    expect((await core.admit(v7(), 1)).admitted).toBe(true); // a share is at least 1
    expect(warnings).toEqual(["rate limits are not shared: each core applies its share alone"]);
    expect(core.areShared).toBe(false);

    await door.open();
    const other = v7();
    await eventually("the answer fits, for the connection comes back in its own time", async () => {
      clock.advance(1000);
      return (await core.read(other, 10)).limit === 10;
    });
    expect(warnings.at(-1)).toBe("rate limits are shared again");
    expect(core.areShared).toBe(true);
    await door.shut();
  },
);

test("a server that is away at the start is used when it comes", async () => {
  const door = await startDoor(server.url);
  await door.shut();
  const clock = new ManualClock();
  const core = await open(door.url, clock);
  const key = v7();
  expect((await core.admit(key, 1)).admitted).toBe(true);
  expect((await core.admit(key, 1)).admitted).toBe(false);
  await door.open();
  await eventually("the answer fits, for the connection comes back in its own time", async () => {
    clock.advance(1000);
    return (await core.admit(key, 1)).admitted;
  });
  expect(await redis.llen(`tollgate:rate:${key}`)).toBe(1);
  await door.shut();
});
