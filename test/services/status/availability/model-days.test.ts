import { afterEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { readServiceHistory } from "#src/services/status/availability/history.ts";
import { ModelDays } from "#src/services/status/availability/model-days.ts";
import { ModelDay } from "#src/storage/entities/history/model-day.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";

const newDatabase = databases();
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) {
    await cleanup();
  }
});

const dayMs = 86_400_000;

async function open(dialect: (typeof dialects)[number]) {
  const storage = await openStorage(await newDatabase(dialect));
  cleanups.push(() => storage.close());
  const clock = new ManualClock();
  const announce = createAnnounce({ clock, random: systemRandom });
  return {
    storage,
    clock,
    core: () => new ModelDays({ storage, clock, logger: silentLogger }),
    read: (...models: string[]) => readServiceHistory(storage, models, clock.now()),
    tell: (type: "server.down" | "server.up", server: string, model = "a") =>
      inTransaction(storage, (em) => announce(em, { type, data: { server, model, reason: "ECONNREFUSED 10.0.0.5" } })),
  };
}

describe.each(dialects)("%s", (dialect) => {
  test("what several cores counted adds up, by day and model", async () => {
    const { clock, core, read } = await open(dialect);
    const cores = [core(), core()];
    for (const one of cores) {
      for (let count = 0; count < 49; count++) {
        one.ended("a", "served");
      }
      one.ended("a", "failed");
    }
    await Promise.all(cores.map((one) => one.store()));
    clock.advance(dayMs);
    cores[0]?.ended("a", "served");
    cores[0]?.ended("", "refused");
    await cores[0]?.store();
    await cores[0]?.store();
    const { models, availability } = await read("a", "b");
    expect(models).toEqual([
      {
        model: "a",
        days: [
          { date: "2026-01-31", availability: 0.98 },
          { date: "2026-02-01", availability: 1 },
        ],
        availability: 99 / 101,
        firstTokenP50Ms: undefined,
        firstTokenP99Ms: undefined,
      },
      expect.objectContaining({ model: "b", days: [], availability: undefined }),
    ]);
    expect(availability).toBe(99 / 102);
  });

  test("times to the first token are told within a bucket's width", async () => {
    const { core, read } = await open(dialect);
    const days = core();
    for (let ms = 1; ms <= 1000; ms++) {
      days.began("a", ms);
    }
    days.began("a", 1e9);
    await days.store();
    const [model] = (await read("a")).models;
    expect(Math.abs(Math.log((model?.firstTokenP50Ms ?? 0) / 500))).toBeLessThan(Math.log(1.5));
    expect(Math.abs(Math.log((model?.firstTokenP99Ms ?? 0) / 990))).toBeLessThan(Math.log(1.5));
  });

  test("days older than ninety are dropped, and what a database did not take is counted later", async () => {
    const { clock, storage, core, read } = await open(dialect);
    const days = core();
    days.ended("a", "served");
    await days.store();
    clock.advance(90 * dayMs);
    await days.store();
    expect(await storage.orm.em.fork().count(ModelDay)).toBe(0);
    const broken = new ModelDays({
      storage: { orm: { em: { fork: () => ({ transactional: () => Promise.reject(new Error("away")) }) } } } as never,
      clock,
      logger: silentLogger,
    });
    broken.ended("a", "served");
    await expect(broken.store()).rejects.toThrow("away");
    await expect(broken.store()).rejects.toThrow("away"); // it has not forgotten
    expect((await read("a")).models[0]?.availability).toBeUndefined();
  });

  test("incidents name the model and the time, and nothing of the inside", async () => {
    const { clock, tell, read } = await open(dialect);
    await tell("server.down", "http://10.0.0.5");
    clock.advance(60_000);
    await tell("server.down", "http://10.0.0.6", "gone");
    await tell("server.up", "http://10.0.0.5");
    clock.advance(60_000);
    await tell("server.down", "http://10.0.0.5");
    const { incidents } = await read("a");
    const at = (time: string) => new Date(`2026-01-31T12:0${time}Z`);
    expect(incidents).toEqual([
      { model: "a", began: at("2:00"), ended: undefined },
      { model: "a", began: at("0:00"), ended: at("1:00") },
    ]);
  });
});
