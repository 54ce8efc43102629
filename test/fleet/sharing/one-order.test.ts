import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../../scripts/test-services/redis.ts";
import type { Fixture } from "../fixture.ts";
import { RedisCores } from "./redis-cores.ts";

let redis: Awaited<ReturnType<typeof startOwnRedis>>;

beforeAll(async () => {
  redis = await startOwnRedis(await freePort());
});

afterAll(() => redis.stop());

/** Clients that ask again as soon as they are answered. Counts the answers of each account. */
function createClients() {
  const answers = new Map<string, number>();
  const stopping = new AbortController();
  const begin = (core: Fixture, accountId: string, more: Partial<FleetRequest> = {}) => {
    const ask = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        await core.run({ accountId, ...more }, stopping.signal);
        answers.set(accountId, (answers.get(accountId) ?? 0) + 1);
      }
    };
    void ask().catch(() => {});
  };
  const sum = () => [...answers.values()].reduce((total, count) => total + count, 0);
  return { answers, begin, sum, stop: () => stopping.abort() };
}

test("a request is served as soon as on the core where all others wait", async () => {
  /** How many others are answered before it. */
  const answeredBefore = async (count: number) => {
    await using cores = new RedisCores(redis.url, [4, 4], 500);
    const started = [await cores.start()];
    while (started.length < count) {
      started.push(await cores.start());
    }
    const { begin, sum, stop } = createClients();
    for (let client = 0; client < 24; client++) {
      begin(started[0] as Fixture, `account ${client % 12}`);
    }
    await cores.run(3000);
    const before = sum();
    let answered = Number.POSITIVE_INFINITY;
    const asked = (started.at(-1) as Fixture).run({ accountId: "thirteenth" });
    void asked.then(
      () => {
        answered = sum() - before;
      },
      () => {},
    );
    await cores.run(9000);
    stop();
    return answered;
  };
  const [alone, together] = [await answeredBefore(1), await answeredBefore(2)];
  expect(alone).toBeLessThanOrEqual(32);
  expect(together).toBeLessThanOrEqual(alone + 8); // a place is on its way for some milliseconds while 8 others end
}, 120_000);

test("classes are served in the order in which one core would serve them", async () => {
  const serve = async (count: number) => {
    await using cores = new RedisCores(redis.url, [1], 100);
    const started = [await cores.start()];
    while (started.length < count) {
      started.push(await cores.start());
    }
    const order: ServiceClass[] = [];
    const asked: Promise<unknown>[] = [(started[0] as Fixture).run({ accountId: "first" })];
    await cores.run(20);
    const ask = (core: Fixture, serviceClass: ServiceClass, account: number) => {
      const request = { accountId: `${serviceClass} ${account}`, serviceClass };
      asked.push(core.run(request).then(() => order.push(serviceClass)));
    };
    for (let account = 0; account < 12; account++) {
      ask(started[0] as Fixture, "flex", account);
    }
    for (let account = 0; account < 4; account++) {
      ask(started.at(-1) as Fixture, "priority", account);
    }
    await cores.run(3000);
    await Promise.all(asked);
    return order;
  };
  const [alone, together] = [await serve(1), await serve(2)];
  expect(together).toEqual(alone);
  expect(alone.slice(0, 5).filter((one) => one === "priority")).toHaveLength(4);
}, 120_000);

test("a core that is added while others are full gets as much for its clients as they get", async () => {
  await using cores = new RedisCores(redis.url, [4, 4], 400);
  const { begin, answers, stop } = createClients();
  for (const [at, core] of [await cores.start(), await cores.start()].entries()) {
    for (let client = 0; client < 12; client++) {
      begin(core, `core ${at} account ${client}`);
    }
  }
  await cores.run(3000);
  const added = await cores.start();
  answers.clear();
  for (let client = 0; client < 3; client++) {
    begin(added, `added ${client}`);
  }
  await cores.run(12_000);
  const of = (name: string) => [...answers].filter(([account]) => account.startsWith(name)).map(([, count]) => count);
  expect(of("added")).toHaveLength(3);
  expect(Math.min(...of("added"))).toBeGreaterThanOrEqual(Math.min(...of("core")) - 1);
  stop();
}, 120_000);

test("a place that is left to a core which has died goes to somebody else", async () => {
  await using cores = new RedisCores(redis.url, [1], 200);
  const [busy, dying] = [await cores.start(), await cores.start()];
  const { begin, sum, stop } = createClients();
  for (let client = 0; client < 4; client++) {
    begin(busy, `account ${client}`);
  }
  await cores.run(3000);
  void dying.run({ accountId: "best" }).catch(() => {});
  await cores.run(20);
  await cores.kill(dying);
  const before = sum();
  await cores.run(4000);
  expect(sum() - before).toBeGreaterThanOrEqual(18); // of 20
  stop();
}, 120_000);
