import { expect, test } from "@jest/globals";
import { systemRandom } from "../../lib/ids/random.ts";
import { createAnnounce } from "../../src/events/announcer.ts";
import { createServerEvents } from "../../src/events/server-events.ts";
import { Event } from "../../src/storage/entities/event.ts";
import { openStorage } from "../../src/storage/orm.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { eventually } from "../support/eventually.ts";
import { silentLogger } from "../support/loggers.ts";

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
