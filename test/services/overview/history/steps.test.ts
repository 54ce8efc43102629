import { afterEach, describe, expect, test } from "@jest/globals";
import { readSteps } from "#src/services/overview/history/history.ts";
import { Steps } from "#src/services/overview/history/steps.ts";
import type { Counted } from "#src/services/overview/sampler.ts";
import { ServiceStep } from "#src/storage/entities/history/service-step.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
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

const minuteMs = 60_000;
const hourMs = 3_600_000;

async function open(dialect: (typeof dialects)[number]) {
  const storage = await openStorage(await newDatabase(dialect));
  cleanups.push(() => storage.close());
  const clock = new ManualClock();
  clock.advance(hourMs - (clock.now() % hourMs)); // the beginning of an hour
  /** A core that has counted so many requests since it started, each with the same facts. */
  const core = () => {
    let requests = 0;
    const steps = new Steps({
      ...{ storage, clock, logger: silentLogger },
      load: () => ({ inFlight: requests > 0 ? 3 : 0, queued: 0 }),
      count: async (): Promise<Counted> => ({
        requests,
        inputTokens: requests * 10,
        outputTokens: requests * 20,
        cost: requests * 0.25,
        refusals: new Map(requests > 0 ? [["RATE_LIMITED", requests / 2]] : []),
        firstTokens: [
          [0.1, requests / 2],
          [0.2, requests],
          [Number.POSITIVE_INFINITY, requests],
        ],
      }),
    });
    return {
      steps,
      async serve(count: number) {
        requests += count;
        await steps.store();
      },
    };
  };
  return { storage, clock, core, read: (spanS: number) => readSteps(storage, spanS, clock.now(), 7n) };
}

describe.each(dialects)("%s", (dialect) => {
  test("what is being stored when a core ends is stored once", async () => {
    const { storage, clock, core } = await open(dialect);
    const { steps, serve } = core();
    const end = steps.start();
    void serve(60); // is under way
    await end();
    const where = { seconds: 60, measure: "requests" };
    expect(await storage.orm.em.fork().find(ServiceStep, where)).toMatchObject([{ count: 60 }]);
    clock.advance(minuteMs);
  });

  test("what cores counted adds up over all of them, and outlives each", async () => {
    const { clock, core, read } = await open(dialect);
    const [one, other] = [core(), core()];
    await Promise.all([one.serve(60), other.serve(60)]);
    clock.advance(minuteMs);
    await core().serve(60); // a core that has started meanwhile counts from nothing
    clock.advance(minuteMs);
    const { stepS, samples } = await read(3600);
    expect(stepS).toBe(60);
    expect(samples).toHaveLength(60);
    expect(samples.slice(-3)).toMatchObject([
      {
        requestsPerSecond: 2,
        inputTokensPerSecond: 20,
        outputTokensPerSecond: 40,
        earnedPicoUsdPerHour: 1_800_000_000_000_000n,
        serversPicoUsdPerHour: 7n,
        inFlight: 1,
        firstTokenP50Seconds: 0.1,
        refusals: [{ reason: "RATE_LIMITED", requests: 60n }],
      },
      { requestsPerSecond: 1 },
      { requestsPerSecond: 0, refusals: [] },
    ]);
  });

  test("a day is told by ten minutes, a week by hours, and what is older leaves", async () => {
    const { storage, clock, core, read } = await open(dialect);
    const one = core();
    await one.serve(600);
    clock.advance(hourMs);
    const day = await read(86_400);
    expect([day.stepS, day.samples.length]).toEqual([600, 144]);
    expect(day.samples.at(-7)).toMatchObject({ requestsPerSecond: 1 });
    const week = await read(604_800);
    expect([week.stepS, week.samples.length]).toEqual([3600, 168]);
    expect(week.samples.at(-2)).toMatchObject({ requestsPerSecond: 600 / 3600 });
    clock.advance(9 * 24 * hourMs);
    await core().serve(2);
    expect((await storage.orm.em.fork().find(ServiceStep, { measure: "requests" })).map(({ count }) => count)).toEqual([
      2, 2,
    ]);
  });

  test("nothing is written while nothing happens", async () => {
    const { storage, core } = await open(dialect);
    const one = core();
    await one.serve(0);
    expect(await storage.orm.em.fork().count(ServiceStep)).toBe(0);
  });
});
