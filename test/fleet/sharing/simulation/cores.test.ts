import { describe, expect, test } from "@jest/globals";
import { SeededRandom } from "../../seeded-random.ts";
import { type Asked, type Core, Cores, type Met, type Setting } from "./cores.ts";

const usual: Setting = { servers: 4, capacity: 4, delayMs: 4, lost: 0, reserve: 0, seed: 1 };

/** A client that asks again as soon as it is answered, until the simulation ends. */
function keepAsking(core: Core, account: string, next: () => Omit<Asked, "account">): void {
  const ask = async (): Promise<void> => {
    for (;;) {
      await core.ask({ account, ...next() });
    }
  };
  void ask();
}

const mean = (met: readonly Met[]) => met.reduce((sum, { waitedMs }) => sum + waitedMs, 0) / met.length;

describe.each([1, 2])("eight cores under random load, seed %i", (seed) => {
  test.each([
    ["news in time", { delayMs: 2, lost: 0 }],
    ["late news", { delayMs: 40, lost: 0 }],
    ["lost news", { delayMs: 4, lost: 0.02 }],
  ])("with %s: whoever waits is served like everybody, and no place stays empty", async (_, news) => {
    const random = new SeededRandom(seed);
    const cores = new Cores({ ...usual, ...news, seed });
    const started = Array.from({ length: 8 }, () => cores.start());
    await cores.run(50);
    const counts = started.map(() => random.between(1, 12));
    for (const [at, core] of started.entries()) {
      for (let client = 0; client < (counts[at] as number); client++) {
        keepAsking(core, `${at} ${client}`, () => {
          const tokens = random.between(500, 1500);
          return { tokens, ms: tokens / 2 };
        });
      }
    }
    await cores.run(10_000);
    cores.mostRunning = 0; // all began at the same moment, when nobody knew of the others
    await cores.run(30_000);
    const late = cores.met.filter(({ at }) => at > 10_000);
    expect(late.filter(({ isServed }) => !isServed)).toEqual([]);
    for (const { id } of started) {
      const own = late.filter(({ core }) => core === id);
      expect(mean(own) / mean(late)).toBeGreaterThan(0.75);
      expect(mean(own) / mean(late)).toBeLessThan(1.25);
    }
    const most = (usual.servers * usual.capacity * 40_000) / 500;
    expect(cores.served / most).toBeGreaterThan(news.delayMs > 10 || news.lost > 0 ? 0.92 : 0.97);
    expect(cores.mostRunning).toBeLessThanOrEqual(usual.servers * usual.capacity + 8);
  });
});

test("an account is served as much as others of one core when it asks on all of them", async () => {
  const cores = new Cores(usual);
  const started = [cores.start(), cores.start(), cores.start(), cores.start()];
  await cores.run(50);
  const random = new SeededRandom(1);
  const job = () => ({ tokens: 1000, ms: random.between(200, 800) });
  for (const core of started) {
    for (let client = 0; client < 5; client++) {
      keepAsking(core, "everywhere", job);
      keepAsking(core, `only on ${core.id}`, job);
    }
  }
  await cores.run(10_000);
  cores.met.length = 0; // all began at the same moment, when nobody knew of the others
  await cores.run(60_000);
  const served = (account: string) => cores.met.filter((one) => one.account === account && one.isServed).length;
  const others = started.map(({ id }) => served(`only on ${id}`));
  const everywhere = served("everywhere");
  for (const count of others) {
    expect(everywhere / count).toBeGreaterThan(0.8);
    expect(everywhere / count).toBeLessThan(1.25);
  }
});

test("a place that is left to a core which dies goes to the others, and its places, too", async () => {
  const cores = new Cores({ ...usual, servers: 1 });
  const [busy, dying] = [cores.start(), cores.start()];
  await cores.run(50);
  for (let client = 0; client < 12; client++) {
    keepAsking(busy, `${client}`, () => ({ tokens: 1000, ms: 400 }));
  }
  await cores.run(2000);
  void dying.ask({ account: "best", tokens: 1000, ms: 400 });
  await cores.run(20);
  dying.kill();
  const before = cores.served;
  await cores.run(10_000);
  expect(cores.served - before).toBeGreaterThanOrEqual(97); // of 100
  expect(busy.members.map(({ elsewhere }) => elsewhere.inFlight)).toEqual([0]);
});

test("a request that has failed on a server waits for another one, and nobody waits for it", async () => {
  const cores = new Cores({ ...usual, servers: 2, capacity: 1 });
  const [busy, other] = [cores.start(), cores.start()];
  await cores.run(50);
  for (let client = 0; client < 6; client++) {
    keepAsking(busy, `${client}`, () => ({ tokens: 1000, ms: 400 }));
  }
  await cores.run(2000);
  const before = cores.served;
  const failed = new Set(other.members.slice(0, 1));
  const asked = other.ask({ account: "best", tokens: 1000, ms: 400 }, failed);
  await cores.run(1000);
  expect(cores.met.filter(({ core }) => core === other.id)).toHaveLength(1);
  await cores.run(9000);
  expect(await asked).toBe(true);
  expect(cores.served - before).toBeGreaterThanOrEqual(47); // of 50
});

test("room is kept for a large request of another core", async () => {
  const cores = new Cores({ ...usual, servers: 1, capacity: 100, kvTokens: 10_000 });
  const [busy, other] = [cores.start(), cores.start()];
  await cores.run(50);
  for (let client = 0; client < 20; client++) {
    keepAsking(busy, `${client}`, () => ({ tokens: 1000, ms: 400 }));
  }
  await cores.run(2000);
  void other.ask({ account: "large", tokens: 8000, ms: 400 });
  await cores.run(3000);
  expect(cores.met.filter(({ core }) => core === other.id)).toEqual([expect.objectContaining({ isServed: true })]);
});

test("a prompt of another core is read in its turn where servers have much to read", async () => {
  const cores = new Cores({ ...usual, servers: 1, capacity: 100, readMs: 400 });
  const [busy, other] = [cores.start(), cores.start()];
  await cores.run(50);
  for (let client = 0; client < 12; client++) {
    keepAsking(busy, `${client}`, () => ({ tokens: 16_000, ms: 800 }));
  }
  await cores.run(4000);
  const before = cores.met.length;
  void other.ask({ account: "other", tokens: 16_000, ms: 400 });
  await cores.run(8000);
  const at = cores.met.slice(before).findIndex(({ core }) => core === other.id);
  expect(at).toBeGreaterThanOrEqual(0);
  expect(at).toBeLessThanOrEqual(12);
});
