import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { freePort } from "../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../scripts/test-services/redis.ts";
import { type PostgresqlServer, startPostgresql } from "../storage/postgresql.ts";
import type { Tollgate } from "../support/tollgate.ts";
import { eventually } from "./eventually.ts";
import { Load } from "./load.ts";
import { type Metronome, startMetronome } from "./metronome.ts";
import { type Service, startService } from "./service.ts";

// Valkey or Redis killed, started anew and frozen, under two cores with load.

const LIMIT = 40;
const AWAY = "rate limits are not shared: each core applies its share alone";
const BACK = "rate limits are shared again";

let postgresql: PostgresqlServer;
let metronome: Metronome;
let redis: Awaited<ReturnType<typeof startOwnRedis>>;
let port: number;
let service: Service;
let load: Load;

beforeAll(async () => {
  port = await freePort();
  [postgresql, metronome, redis] = await Promise.all([startPostgresql(), startMetronome(), startOwnRedis(port)]);
  const shared = { TOLLGATE_STORAGE_URL: await postgresql.createDatabase(), TOLLGATE_RATE_LIMIT_URL: redis.url };
  service = await startService(metronome.url, shared);
  load = new Load((await service.books.customer(100n)).key);
  load.start(4, service.urls, 20);
}, 180_000);
afterAll(async () => {
  redis?.process.kill("SIGCONT");
  await Promise.all([load?.finish(), service?.stop()]);
  await service?.remove();
  await Promise.all([redis?.stop(), metronome?.close(), postgresql?.stop()]);
}, 120_000);

/** How often a process has said something, and what it said last. */
const said = ({ log }: Tollgate, message: string) => log.filter(({ msg }) => msg === message);
const allSaid = (message: string, times: number) =>
  eventually(message, () => service.processes.every((process) => said(process, message).length >= times));

async function newKey(): Promise<string> {
  const { account } = await service.books.customer(100n);
  return (await service.books.accounts.createKey({ accountId: account, rpm: LIMIT })).secret;
}

/** Asks twice as often as the limit allows, at both processes. Returns how many requests each admitted. */
async function exhaust(key: string): Promise<number[]> {
  return Promise.all(
    service.urls.map(async (url) => {
      const clients = new Load(key);
      await Promise.all(Array.from({ length: LIMIT }, () => clients.stream(url, 1)));
      const statuses = clients.asked.map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      return statuses.filter((status) => status === 200).length;
    }),
  );
}

const total = (admitted: number[]) => admitted.reduce((sum, number) => sum + number, 0);

/** What each process may admit by itself: the limit over the cores that it had last seen. */
const shares = () =>
  service.processes.map((process) => Math.floor(LIMIT / Number(String(said(process, AWAY).at(-1)?.share).slice(2))));

test("killed and started anew: each core keeps to its share, then they count together again", async () => {
  const before = await newKey();
  expect(total(await exhaust(before))).toBe(LIMIT);
  const client = new Redis(redis.url);
  // Each core says every five seconds that it is there, and then learns how many did.
  const both = async () => (await client.zrangebyscore("tollgate:cores", since * 1000, "+inf")).length === 2;
  const since = Date.now();
  await eventually("the cores know of each other", both);
  client.disconnect();

  redis.process.kill("SIGKILL");
  await once(redis.process, "exit");
  await allSaid(AWAY, 1);
  expect(shares()).toEqual([LIMIT / 2, LIMIT / 2]);
  expect(await exhaust(await newKey())).toEqual(shares());
  expect(total(await exhaust(before))).toBeLessThanOrEqual(LIMIT); // twice the limit within the minute, no more

  redis = await startOwnRedis(port);
  await allSaid(BACK, 1);
  expect(total(await exhaust(await newKey()))).toBe(LIMIT);
}, 180_000);

test("frozen: requests go on within the shares, and together once it thaws", async () => {
  redis.process.kill("SIGSTOP");
  await allSaid(AWAY, 2);
  expect(await exhaust(await newKey())).toEqual(shares());
  redis.process.kill("SIGCONT");
  await allSaid(BACK, 2);
  expect(total(await exhaust(await newKey()))).toBe(LIMIT);
  const failed = load.asked.filter(({ status }) => status !== 200 && status !== 0); // 0: not answered yet
  expect(failed).toEqual([]);
}, 180_000);
