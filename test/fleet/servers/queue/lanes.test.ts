import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { RoundRobin } from "#src/fleet/routing/round-robin.ts";
import { Member } from "#src/fleet/servers/member.ts";
import type { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import type { Wish } from "#src/fleet/servers/wish.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { settle, toReason } from "../../fixture.ts";

/** One server with one place, which is taken, and requests of 1,000 tokens that wait for it. */
async function busy(queue = 1000) {
  const clock = new ManualClock();
  const { models } = configSchema.parse({ models: [{ id: "m", servers: [{ url: "http://0:1", capacity: 1 }] }] });
  const pool = new Pool("m", new RoundRobin(), clock, { queue, reserve: 0, health_interval_s: 5 });
  const settings = { clock, openMs: 1000, onFree: () => pool.pump() };
  pool.replace((models[0]?.servers ?? []).map((config) => new Member("0", "m", config, {} as Engine, settings)));
  const order: string[] = [];
  const places: Place[] = [];
  const ask = (name: string, more: Partial<Wish> = {}) => {
    const wish: Wish = {
      ...{ route: { request: undefined, promptTokens: 1000 }, key: name, failed: new Set() },
      ...{ deadline: clock.monotonic() + 60_000, ...more },
    };
    const place = Promise.resolve().then(() => pool.acquire(wish, new AbortController().signal));
    place.then(
      (granted) => {
        order.push(name);
        places.push(granted);
      },
      () => order.push(`${name} refused`),
    );
    return place;
  };
  await ask("first");
  /** Gives so many waiters their turn, one after the other. */
  const serve = async (count: number) => {
    for (let turn = 0; turn < count; turn++) {
      pool.release(places.at(-1) as Place);
      await settle();
    }
    return order.slice(1);
  };
  return { pool, ask, serve };
}

test("higher classes go first, whoever came first", async () => {
  const { ask, serve } = await busy();
  for (const serviceClass of ["flex", "standard", "priority"] as const) {
    void ask(`${serviceClass} a`, { serviceClass });
    void ask(`${serviceClass} b`, { serviceClass });
  }
  await settle();
  const order = await serve(3);
  expect(order[0]).toBe("priority a");
  expect(order).toContain("priority b");
});

test("no class starves: each gets its part of the work", async () => {
  const { ask, serve } = await busy();
  const asked = { priority: 80, standard: 20, flex: 5 };
  for (const [serviceClass, count] of Object.entries(asked) as [ServiceClass, number][]) {
    for (let request = 0; request < count; request++) {
      void ask(serviceClass, { key: `${serviceClass} ${request}`, serviceClass });
    }
  }
  await settle();
  const order = await serve(73);
  const counts = Object.keys(asked).map((one) => order.filter((name) => name === one).length);
  expect(counts[0]).toBeGreaterThanOrEqual(63);
  expect(counts[1]).toBeGreaterThanOrEqual(7);
  expect(counts[2]).toBeGreaterThanOrEqual(1);
});

test("an account is served as many times the tokens of another as its weight says", async () => {
  const { ask, serve } = await busy();
  for (let request = 0; request < 30; request++) {
    void ask("heavy", { turnWeight: 4 });
    void ask("light");
  }
  await settle();
  const order = await serve(20);
  expect(order.filter((name) => name === "heavy")).toHaveLength(16);
});

test.each<[ServiceClass, ServiceClass, string]>([
  ["flex", "standard", "old refused"],
  ["standard", "priority", "old refused"],
  ["priority", "standard", "new refused"],
  ["standard", "flex", "new refused"],
  ["standard", "standard", "new refused"],
])("in a queue that is full of %s, one of %s: %s", async (old, young, refused) => {
  const { ask, serve } = await busy(1);
  const waits = ask("old", { serviceClass: old });
  await settle();
  const comes = ask("new", { serviceClass: young });
  await settle();
  expect(await serve(0)).toEqual([refused]);
  expect(await toReason(refused.startsWith("old") ? waits : comes)).toBe(Reason.OVERLOADED);
});

test("work of an account that can wait does not fill its half of the queue for the rest", async () => {
  const { ask, pool } = await busy(4);
  const flex = { key: "a", serviceClass: "flex" } as const;
  void ask("flex 1", flex);
  void ask("flex 2", flex);
  await settle();
  expect(await toReason(ask("flex 3", flex))).toBe(Reason.OVERLOADED);
  void ask("standard", { key: "a" });
  await settle();
  expect(pool.waiting).toBe(3);
});
