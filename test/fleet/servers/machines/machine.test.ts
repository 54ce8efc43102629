import { expect, test } from "@jest/globals";
import type { input } from "zod";
import type { Logger } from "#lib/logger.ts";
import { configSchema } from "#src/config/schema.ts";
import { Roster } from "#src/fleet/roster/roster.ts";
import type { Place } from "#src/fleet/servers/place.ts";
import type { Pool } from "#src/fleet/servers/pool.ts";
import { utilisation } from "#src/fleet/utilisation.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { textRequest } from "../../engines/requests.ts";
import { broken, FakeEngine } from "../../fake-engine.ts";
import { settle } from "../../fixture.ts";
import { SeededRandom } from "../../seeded-random.ts";

type Servers = NonNullable<input<typeof configSchema>["models"]>[number]["servers"];

/** Models `base` and `adapter` on these servers. */
function models(base: Servers, adapter: Servers) {
  const clock = new ManualClock();
  const engines: FakeEngine[] = [];
  const nobody: Logger = { debug() {}, info() {}, warn() {}, error() {} };
  const { fleet: config, models: parsed } = configSchema.parse({
    fleet: { reserve: 0, routing: "round-robin" },
    models: [
      { id: "base", servers: base },
      { id: "adapter", servers: adapter },
    ],
  });
  const roster = new Roster({
    ...{ config, clock, random: new SeededRandom(1), logger: nobody, lookup: async () => [] },
    engines() {
      const engine = new FakeEngine();
      engines.push(engine);
      return engine;
    },
  });
  roster.prepare(parsed.map((model) => ({ ...model, createdAt: new Date(0) }))).apply();
  const order: string[] = [];
  /** Asks for a place for a prompt of so many tokens, with an answer of one. */
  const ask = (model: "base" | "adapter", promptTokens = 10) => {
    const route = { request: { ...textRequest("hi", { maxOutputTokens: 1 }), requestId: "r" }, promptTokens };
    const wish = {
      route,
      key: "",
      failed: new Set<never>(),
      deadline: clock.monotonic() + (promptTokens > 5000 ? 60_000 : 120_000),
    };
    const pool = roster.pools.get(model) as Pool;
    const place = Promise.resolve(pool.acquire(wish, new AbortController().signal));
    place.then(
      () => order.push(model),
      () => {},
    );
    return {
      place,
      begin: async () => pool.began((await place) as Place),
      end: async () => pool.release((await place) as Place),
    };
  };
  const taken = () => [...roster.pools.values()].map((pool) => utilisation(pool));
  return { roster, clock, engines, order, ask, taken };
}

const url = "http://gpu:8000";

test("models of one server share its places, and the one that has fewest takes what is free", async () => {
  const { order, ask, taken } = models([{ url, capacity: 2 }], [{ url, capacity: 2, model: "lora" }]);
  const first = ask("base");
  ask("base");
  ask("base");
  ask("adapter");
  await settle();
  expect([order, taken()]).toEqual([
    ["base", "base"],
    [1.5, 1.5],
  ]);
  await first.end();
  await settle();
  expect(order).toEqual(["base", "base", "adapter"]);
});

test("a model's own capacity bounds it beside that of its server", async () => {
  const { order, ask, taken } = models([{ url, capacity: 4 }], [{ url, capacity: 1, model: "lora" }]);
  ask("adapter");
  ask("adapter");
  for (let request = 0; request < 4; request++) {
    ask("base");
  }
  await settle();
  expect([order, taken()]).toEqual([
    ["adapter", "base", "base", "base"],
    [1.25, 2],
  ]);
});

test("models of one server share its KV cache", async () => {
  const { order, ask, engines, clock } = models([{ url }], [{ url, model: "lora" }]);
  for (const engine of engines) {
    engine.load = { running: 0, waiting: 0, kvUsage: 0, kvTokens: 10_000 };
  }
  clock.advance(6000);
  await settle();
  const first = ask("base", 5000);
  ask("adapter", 5000);
  await settle();
  expect(order).toEqual(["base"]);
  await first.end();
  await settle();
  expect(order).toEqual(["base", "adapter"]);
});

test("a large request is not passed by small ones of its server's other model, until it gives up", async () => {
  const kv = { url, kv_tokens: 10_000 };
  const { order, ask, clock } = models([kv], [{ ...kv, model: "lora" }]);
  ask("base", 5000);
  ask("adapter", 8000).place.catch(() => order.push("gave up"));
  await settle();
  ask("base", 10);
  await settle();
  expect(order).toEqual(["base"]);
  clock.advance(60_000);
  await settle();
  expect(order).toEqual(["base", "gave up", "base"]);
});

test("a model's long prompts do not keep out the model that has less on their server", async () => {
  const { order, ask } = models([{ url }], [{ url, model: "lora" }]);
  const first = ask("base", 20_000);
  ask("base", 20_000);
  ask("base", 20_000);
  await settle();
  ask("adapter");
  await settle();
  expect(order).toEqual(["base"]);
  await first.begin();
  await settle();
  expect(order).toEqual(["base", "adapter", "base"]);
});

test("when a large request gives up, its server's other models have the room at once", async () => {
  const kv = { url, kv_tokens: 10_000 };
  const { order, ask, clock } = models([kv], [{ ...kv, model: "lora" }]);
  ask("base", 5000);
  ask("base", 8000).place.catch(() => order.push("gave up"));
  await settle();
  ask("adapter");
  await settle();
  expect(order).toEqual(["base"]);
  clock.advance(60_000);
  await settle();
  expect(order).toEqual(["base", "gave up", "adapter"]);
});

test("when a large request goes to another server, other models have the room that was kept for it", async () => {
  const kv = { url, kv_tokens: 10_000 };
  const { order, ask } = models([kv, { ...kv, url: "http://gpu:8001" }], [{ ...kv, model: "lora" }]);
  ask("base", 4900);
  const other = ask("base", 5000);
  ask("base", 8000);
  await settle();
  ask("adapter");
  await settle();
  expect(order).toEqual(["base", "base"]);
  await other.end();
  await settle();
  expect(order).toEqual(["base", "base", "base", "adapter"]);
});

test("small requests of a server's other model pass a large one while its own model has more there, and no longer", async () => {
  const kv = { url, kv_tokens: 10_000 };
  const { order, ask } = models([kv], [{ ...kv, model: "lora" }]);
  const [own, other] = [ask("base", 3000), ask("adapter", 2000)];
  ask("base", 5000);
  ask("adapter", 1500);
  ask("adapter", 1500);
  await settle();
  expect(order).toEqual(["base", "adapter"]);
  await other.begin();
  await settle();
  expect(order).toEqual(["base", "adapter", "adapter", "adapter"]);
  ask("adapter", 10);
  await own.end();
  await settle();
  expect(order).toHaveLength(4);
  await other.end();
  await settle();
  expect(order).toEqual(["base", "adapter", "adapter", "adapter", "base", "adapter"]);
});

test("of two large requests the room is kept for the one whose model has less on the server", async () => {
  const kv = { url, kv_tokens: 10_000 };
  const { roster, ask } = models([kv], [{ ...kv, model: "lora" }]);
  const first = ask("base", 5000);
  ask("base", 8000);
  ask("adapter", 8000);
  await settle();
  const [base, adapter] = [...roster.pools.values()].map(({ members: [member] }) => member);
  expect(adapter?.machine.keptFor).toBe(base);
  await first.begin();
  expect(adapter?.machine.keptFor).toBe(adapter);
});

test("servers of other addresses and model files share nothing", async () => {
  const file = { url: "file:///m.gguf", engine: "llama.cpp", capacity: 1 } as const;
  const { order, ask } = models([{ url, capacity: 1 }, file], [{ url: "http://gpu:8001", capacity: 1 }, file]);
  for (const model of ["base", "base", "adapter", "adapter"] as const) {
    ask(model);
  }
  await settle();
  expect(order).toHaveLength(4);
});

test("when one model of a server fails its checks, the others are checked at once", async () => {
  const { engines, clock, roster } = models([{ url }], [{ url, model: "lora" }]);
  await settle();
  clock.advance(3000);
  const [base, adapter] = engines as [FakeEngine, FakeEngine];
  const isHealthy = () => [...roster.pools.values()].map(({ members: [member] }) => member?.healthy);
  const [member] = roster.pools.get("base")?.members ?? [];
  for (const engine of engines) {
    engine.health = broken();
  }
  const before = adapter.checks;
  member?.onFailure(broken());
  await settle();
  expect([base.checks > 0, adapter.checks - before, isHealthy()]).toEqual([true, 1, [false, false]]);
  await roster.close();
});
