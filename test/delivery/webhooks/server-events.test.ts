import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { createServerEvents } from "#src/delivery/webhooks/server-events.ts";
import { Event } from "#src/storage/entities/event.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";

const newDatabase = databases();

test("a server that goes down and comes back is told of once, whichever cores see it, and as often as it happens", async () => {
  const storage = await openStorage("sqlite::memory:");
  const clock = new ManualClock();
  const parts = { storage, clock, random: systemRandom, logger: silentLogger };
  const announce = createAnnounce(parts);
  const cores = [createServerEvents({ ...parts, announce }), createServerEvents({ ...parts, announce })];
  const told = () => storage.orm.em.fork().find(Event, {}, { orderBy: { at: "asc", id: "asc" } });
  const server = { server: "http://gpu-1:8000", model: "open/chat" };
  const changes = [
    { ...server, isUp: false, reason: "connect ECONNREFUSED" },
    { ...server, isUp: true, reason: "" },
    { ...server, isUp: false, reason: "the health check timed out" },
  ];
  for (const [at, change] of changes.entries()) {
    cores[0]?.(change);
    await eventually("it is told", async () => (await told()).length === at + 1);
    cores[1]?.(change);
    await clock.pass(6000);
  }
  const events = (await told()).map(({ type, body }) => [type, JSON.parse(body).data]);
  expect(events).toEqual([
    ["server.down", { ...server, reason: "connect ECONNREFUSED" }],
    ["server.up", server],
    ["server.down", { ...server, reason: "the health check timed out" }],
  ]);
  await storage.close();
});

test("a core forgets the lease of what it told an hour after it told of it last", async () => {
  const storage = await openStorage("sqlite::memory:");
  const clock = new ManualClock();
  const parts = { storage, clock, random: systemRandom, logger: silentLogger };
  const announce = createAnnounce(parts);
  let leases = 0;
  const uuid = () => {
    leases++;
    return systemRandom.uuid();
  };
  const tell = createServerEvents({ ...parts, random: { ...systemRandom, uuid }, announce });
  let events = 0;
  const told = () => storage.orm.em.fork().count(Event);
  const change = async (server: string, isUp: boolean) => {
    events++;
    tell({ server, model: "open/chat", isUp, reason: "" });
    await eventually("it is told", async () => (await told()) === events);
  };
  await change("gpu-1", false);
  await change("gpu-2", false);
  clock.advance(1_800_000);
  await change("gpu-1", true);
  await change("gpu-1", false);
  expect(leases).toBe(3);
  clock.advance(2_000_000);
  await change("gpu-1", true);
  await change("gpu-1", false);
  expect(leases).toBe(3);
  await change("gpu-2", true);
  await change("gpu-2", false);
  expect(leases).toBe(5); // to come back is another lease
  await storage.close();
});

test.each(dialects)(
  "%s: a core that sees it later, or anew after its start, tells only what is news",
  async (dialect) => {
    const storage = await openStorage(await newDatabase(dialect));
    const clock = new ManualClock();
    const parts = { storage, clock, random: systemRandom, logger: silentLogger };
    const announce = createAnnounce(parts);
    const core = () => createServerEvents({ ...parts, announce });
    const told = async () => {
      const events = await storage.orm.em.fork().find(Event, {}, { orderBy: { at: "asc", id: "asc" } });
      return events.map(({ type, body }) => [type, JSON.parse(body).data.server]);
    };
    const change = (server: string, isUp: boolean) => ({ server, model: "open/chat", isUp, reason: "" });
    const first = core();
    first(change("gpu_1/open/chat", true)); // as it started
    first(change("gpu_1/open/chat", false));
    await eventually("it is told", async () => (await told()).length === 1);
    await clock.pass(120_000);
    core()(change("gpu_1/open/chat", false)); // of long health intervals
    await clock.pass(120_000);
    core()(change("gpuX1/open/chat", true)); // another server, which is up
    core()(change("gpu_1/open/chat", true)); // as it started again
    await eventually("it is told", async () => (await told()).length === 2);
    await clock.pass(120_000);
    first(change("gpu_1/open/chat", true));
    first(change("gpu_2/open/chat", false));
    await eventually("it is told", async () => (await told()).length === 3);
    expect(await told()).toEqual([
      ["server.down", "gpu_1/open/chat"],
      ["server.up", "gpu_1/open/chat"],
      ["server.down", "gpu_2/open/chat"],
    ]);
    await storage.close();
  },
);
