import { describe, expect, test } from "@jest/globals";
import type { Logger } from "#lib/logger.ts";
import { configSchema, type ServerConfig } from "#src/config/schema.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import { Roster } from "#src/fleet/roster/roster.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { broken, FakeEngine } from "../fake-engine.ts";
import { settle } from "../fixture.ts";
import { SeededRandom } from "../seeded-random.ts";

/** A roster of fake engines, with the addresses of names that a test changes, some of which are down. */
function rosterOf(names: Record<string, readonly string[]> = {}, down: ReadonlySet<string> = new Set()) {
  const clock = new ManualClock();
  const errors: object[] = [];
  const note = (fields: object) => void errors.push(fields);
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: note };
  const made: { server: ServerConfig; engine: FakeEngine }[] = [];
  const roster = new Roster({
    ...{ config: configSchema.parse({}).fleet, clock, random: new SeededRandom(1), logger },
    engines(server) {
      if (server.url.includes("impossible") || server.address === "10.9.9.9") {
        throw new Error("no such adapter");
      }
      const engine = new FakeEngine();
      engine.checkHealth = async () => {
        if (down.has(server.address ?? new URL(server.url).hostname)) {
          throw broken();
        }
      };
      made.push({ server, engine });
      return engine;
    },
    lookup: async (host) => names[host] ?? [],
  });
  const apply = (...models: ServedModel[]) => roster.prepare(models).apply();
  const ids = (model = "m") => roster.pools.get(model)?.members.map(({ id }) => id);
  const lookedUp = async () => {
    clock.advance(10_000);
    await settle();
  };
  return { roster, made, errors, apply, ids, lookedUp };
}

function model(servers: readonly { url: string; resolve?: boolean }[], more: object = {}): ServedModel {
  const [parsed] = configSchema.parse({ models: [{ id: "m", servers, ...more }] }).models;
  if (parsed === undefined) {
    throw new Error("there is no model");
  }
  return { ...parsed, createdAt: new Date(0) };
}

const fixed = (...hosts: string[]) => model(hosts.map((host) => ({ url: `http://${host}:8000` })));
const named = model([{ url: "http://vllm:8000", resolve: true }]);

test("a change that is discarded leaves everything as it is, and no adapter open", () => {
  const { roster, made, apply, ids } = rosterOf();
  apply(fixed("a"));
  const change = roster.prepare([fixed("b")]);
  expect(ids()).toEqual(["a:8000/m"]);
  change.discard();
  expect(ids()).toEqual(["a:8000/m"]);
  expect(made.map(({ server, engine }) => [server.url, engine.closed])).toEqual([
    ["http://a:8000", false],
    ["http://b:8000", true],
  ]);
});

test("a change with an adapter that cannot be made throws, changes nothing and closes those that were", () => {
  const { roster, made, apply, ids } = rosterOf();
  apply(fixed("a"));
  expect(() => roster.prepare([fixed("b", "impossible")])).toThrow("no such adapter");
  expect(ids()).toEqual(["a:8000/m"]);
  expect(made.map(({ engine }) => engine.closed)).toEqual([false, true]);
});

test("a server that never passed a check is out with the first one that it fails", async () => {
  const down = new Set(["b"]);
  const { roster, apply, lookedUp } = rosterOf({}, down);
  apply(fixed("a", "b"));
  const healthy = () => roster.pools.get("m")?.members.map((member) => member.healthy);
  expect(healthy()).toEqual([true, true]);
  await settle();
  expect(healthy()).toEqual([true, false]);
  down.clear();
  await lookedUp();
  expect(healthy()).toEqual([true, true]);
});

test("prices and routing make nothing anew, what an adapter may depend on does", () => {
  const { made, apply } = rosterOf();
  const servers = [{ url: "http://a:8000" }];
  apply(model(servers));
  apply(model(servers, { price: { input: "9" }, routing: "round-robin" }));
  expect(made).toHaveLength(1);
  apply(model(servers, { context_length: 100 }));
  expect(made.map(({ engine }) => engine.closed)).toEqual([true, false]);
});

test("a drained server stays drained when it is made anew", () => {
  const { roster, apply } = rosterOf();
  apply(fixed("a"));
  for (const member of roster.pools.get("m")?.members ?? []) {
    member.draining = true;
  }
  apply(model([{ url: "http://a:8000" }], { context_length: 100 }));
  expect(roster.pools.get("m")?.members.map(({ draining }) => draining)).toEqual([true]);
});

test("closing closes those that are leaving too", async () => {
  const { roster, made, apply } = rosterOf();
  apply(fixed("a"));
  const [busy] = roster.pools.get("m")?.members ?? [];
  if (busy) {
    busy.inFlight = 1;
  }
  apply(fixed("b"));
  expect(made.map(({ engine }) => engine.closed)).toEqual([false, false]);
  await roster.close();
  expect(made.map(({ engine }) => engine.closed)).toEqual([true, true]);
});

describe("the servers of a name", () => {
  test("come and go with its addresses; those that stay keep what they have", async () => {
    const names = { vllm: ["10.0.0.1", "10.0.0.2"] };
    const { roster, made, apply, ids, lookedUp } = rosterOf(names);
    apply(named);
    expect(ids()).toEqual([]);
    await settle();
    expect(ids()).toEqual(["vllm:8000@10.0.0.1/m", "vllm:8000@10.0.0.2/m"]);
    const [leaves, stays] = roster.pools.get("m")?.members ?? [];
    if (leaves) {
      leaves.inFlight = 1;
    }
    names.vllm = ["10.0.0.2", "10.0.0.3"];
    await lookedUp();
    expect(ids()).toEqual(["vllm:8000@10.0.0.2/m", "vllm:8000@10.0.0.3/m"]);
    expect(roster.pools.get("m")?.members[0]).toBe(stays);
    expect(made.map(({ engine }) => engine.closed)).toEqual([false, false, false]);
    leaves?.leave(0, 0);
    expect(made.map(({ engine }) => engine.closed)).toEqual([true, false, false]);
    expect(made.map(({ server }) => server.address)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
  });

  test("get work when they have shown that they are up", async () => {
    const down = new Set(["10.0.0.1"]);
    const { roster, apply, lookedUp } = rosterOf({ vllm: ["10.0.0.1"] }, down);
    apply(named);
    await settle();
    const healthy = () => roster.pools.get("m")?.members.map((member) => member.healthy);
    expect(healthy()).toEqual([false]);
    down.clear();
    await lookedUp();
    expect(healthy()).toEqual([true]);
  });

  test("stay beside others, and through a reload", async () => {
    const { made, apply, ids } = rosterOf({ vllm: ["10.0.0.1"] });
    apply(named);
    await settle();
    apply(model([{ url: "http://a:8000" }, { url: "http://vllm:8000", resolve: true }]));
    expect(ids()).toEqual(["a:8000/m", "vllm:8000@10.0.0.1/m"]);
    expect(made).toHaveLength(2);
  });

  test("that come while a change is prepared are there when it is made", async () => {
    const names = { vllm: ["10.0.0.1"] };
    const { roster, made, apply, ids, lookedUp } = rosterOf(names);
    apply(named);
    await settle();
    const change = roster.prepare([named]);
    names.vllm = ["10.0.0.2"];
    await lookedUp();
    expect(ids()).toEqual(["vllm:8000@10.0.0.1/m"]);
    change.apply();
    expect(ids()).toEqual(["vllm:8000@10.0.0.2/m"]);
    expect(made.map(({ engine }) => engine.closed)).toEqual([true, false]);
  });

  test("that cannot be taken on leave the last ones where they are", async () => {
    const names = { vllm: ["10.0.0.1"] };
    const { errors, apply, ids, lookedUp } = rosterOf(names);
    apply(named);
    await settle();
    names.vllm = ["10.9.9.9"];
    await lookedUp();
    expect(ids()).toEqual(["vllm:8000@10.0.0.1/m"]);
    expect(errors).toHaveLength(1);
  });
});
