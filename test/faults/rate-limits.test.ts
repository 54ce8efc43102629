import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { freePort } from "../../scripts/test-services/free-port.ts";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { startOwnRedis } from "../../scripts/test-services/redis.ts";
import { eventually } from "../support/eventually.ts";
import { logsCalls, type Tollgate } from "../support/tollgate.ts";
import { Load } from "./load.ts";
import { type Metronome, startMetronome } from "./metronome.ts";
import { type Service, startService } from "./service.ts";

// Valkey or Redis killed, started anew and frozen, under two cores with load.

const limit = 40;
const awayMessage = "rate limits are not shared: each core applies its share alone";
const back = "rate limits are shared again";

let postgresql: DatabaseServer;
let metronome: Metronome;
let redis: Awaited<ReturnType<typeof startOwnRedis>>;
let port: number;
let service: Service;
let load: Load;

beforeAll(async () => {
  port = await freePort();
  [postgresql, metronome, redis] = await Promise.all([useServer(), startMetronome(), startOwnRedis(port)]);
  const shared = { TOLLGATE_STORAGE_URL: await postgresql.createDatabase(), TOLLGATE_RATE_LIMIT_URL: redis.url };
  service = await startService(metronome.url, shared);
  load = new Load((await service.books.customer(100n)).key);
  load.rest(20);
  load.start(4, service.urls, 20);
}, 180_000);
afterAll(async () => {
  redis?.process.kill("SIGCONT");
  await Promise.all([load?.finish(), service?.stop()]);
  await service?.remove();
  await Promise.all([redis?.stop(), metronome?.close(), postgresql?.stop()]);
}, 120_000);

const said = ({ log }: Tollgate, message: string) => log.filter(({ msg }) => msg === message);
const isAway = (process: Tollgate) => said(process, awayMessage).length > said(process, back).length;
const allAway = () => eventually("every core counts alone", () => service.processes.every(isAway));
const noneAway = () => eventually("no core counts alone", () => !service.processes.some(isAway));

async function newKey(): Promise<string> {
  const { account } = await service.books.customer(100n);
  return (await service.books.accounts.createKey({ accountId: account, limits: { rpm: limit } })).secret;
}

/** Asks twice as often as the limit allows, at both processes. Returns how many requests each admitted. */
async function exhaust(key: string): Promise<number[]> {
  return Promise.all(
    service.urls.map(async (url) => {
      const clients = new Load(key);
      await Promise.all(Array.from({ length: limit }, () => clients.stream(url, 1)));
      const statuses = clients.asked.map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      await logsCalls(
        service.processes,
        clients.asked.filter(({ status }) => status === 200).map(({ id }) => id),
      );
      return statuses.filter((status) => status === 200).length;
    }),
  );
}

const total = (admitted: number[]) => admitted.reduce((sum, number) => sum + number, 0);

/** What the cores admit of a new key together. On a busy machine an answer may come too late: then it is another key's turn. */
async function together(): Promise<number> {
  const away = () => service.processes.flatMap((process) => said(process, awayMessage)).length;
  for (let tries = 0; tries < 10; tries++) {
    await noneAway();
    const before = away();
    const admitted = total(await exhaust(await newKey()));
    if (away() === before) {
      return admitted;
    }
  }
  throw new Error("the server never answered in time");
}

/** What each process may admit by itself: the limit over the cores that it had last seen. */
const shares = () =>
  service.processes.map((process) =>
    Math.floor(limit / Number(String(said(process, awayMessage).at(-1)?.share).slice(2))),
  );

test("killed and started anew: each core keeps to its share, then they count together again", async () => {
  const before = await newKey();
  expect(total(await exhaust(before))).toBeGreaterThanOrEqual(limit);
  expect(await together()).toBe(limit);
  const client = new Redis(redis.url);
  // Each core says every five seconds that it is there, and then learns how many did.
  const both = async () => (await client.zrangebyscore("tollgate:cores", since * 1000, "+inf")).length === 2;
  const since = Date.now();
  await eventually("the cores know of each other", both);
  client.disconnect();

  redis.process.kill("SIGKILL");
  await once(redis.process, "exit");
  await allAway();
  expect(shares()).toEqual([limit / 2, limit / 2]);
  expect(await exhaust(await newKey())).toEqual(shares());
  expect(total(await exhaust(before))).toBeLessThanOrEqual(limit); // twice the limit within the minute, no more

  redis = await startOwnRedis(port);
  expect(await together()).toBe(limit);
}, 180_000);

test("frozen: requests go on within the shares, and together once it thaws", async () => {
  redis.process.kill("SIGSTOP");
  await allAway();
  expect(await exhaust(await newKey())).toEqual(shares());
  redis.process.kill("SIGCONT");
  expect(await together()).toBe(limit);
  const failed = load.asked.filter(({ status }) => status !== 200 && status !== 0); // 0: not answered yet
  expect(failed).toEqual([]);
}, 180_000);
