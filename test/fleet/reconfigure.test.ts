import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import { output, whole } from "./fake-engine.ts";
import { fixture, settle } from "./fixture.ts";

const reconfigure = (fleet: Fleet, models: readonly ServedModel[]) => fleet.prepare(models).apply();

/** The model with other servers, some of which it had before. */
function withServers(model: ServedModel, ...hosts: string[]): ServedModel {
  const rest = { weight: 1, priorities: false, resolve: false };
  return {
    ...model,
    servers: hosts.map((host) => ({ url: `http://${host}:8000`, engine: "vllm", capacity: 1, ...rest })),
  };
}

test("servers that stay keep what they have, new ones get work", async () => {
  const { fleet, engines, model, run } = fixture([1, 1]);
  fleet.drain("server-0:8000/m");
  await run();
  reconfigure(fleet, [withServers(model, "server-0", "server-1", "server-9")]);
  expect(engines).toHaveLength(3);
  expect(fleet.servers().map(({ id, state }) => [id, state])).toEqual([
    ["server-0:8000/m", ServerState.DRAINING],
    ["server-1:8000/m", ServerState.HEALTHY],
    ["server-9:8000/m", ServerState.HEALTHY],
  ]);
  for (let i = 0; i < 4; i++) {
    await run();
  }
  expect(engines.map(({ requests }) => requests.length)).toEqual([0, 3, 2]);
});

test("a server whose weight changes stays as it is", async () => {
  const { fleet, engines, model } = fixture([1, 1]);
  const weighted = withServers(model, "server-0", "server-1");
  const [first, ...others] = weighted.servers.map((server) => ({ ...server, weight: 0.1 }));
  reconfigure(fleet, [{ ...weighted, servers: first ? [{ ...first, weight: 0.5 }, ...others] : [] }]);
  expect(engines).toHaveLength(2);
  expect(fleet.servers().map(({ weight }) => weight)).toEqual([0.5, 0.1]);
});

test("a server whose API key changes in its file is reached by the new one, and stays as it is without a change", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-reconfigure-"));
  const file = join(folder, "key");
  await writeFile(file, "old");
  const { fleet, engines, model } = fixture([1, 1]);
  const [first, ...others] = withServers(model, "server-0", "server-1").servers;
  const keyed = { ...model, servers: first ? [{ ...first, api_key_file: file }, ...others] : [] };
  reconfigure(fleet, [keyed]);
  expect(engines).toHaveLength(3); // the server with a key
  reconfigure(fleet, [keyed]);
  expect(engines).toHaveLength(3);
  await writeFile(file, "new");
  reconfigure(fleet, [keyed]);
  expect(engines.map(({ closed }) => closed)).toEqual([true, false, true, false]);
  await rm(file);
  expect(() => fleet.prepare([keyed])).toThrow("ENOENT");
  expect(engines).toHaveLength(4);
  await rm(folder, { recursive: true });
});

test("a server that is gone finishes what it has and is closed then", async () => {
  const { fleet, engines, model, run } = fixture([1, 1]);
  const [first] = engines;
  let free = () => {};
  first?.scripts.push([output(1), new Promise<void>((resolve) => (free = resolve)), ...whole]);
  const running = run();
  await settle();
  reconfigure(fleet, [withServers(model, "server-1")]);
  expect(fleet.servers().map(({ id }) => id)).toEqual(["server-1:8000/m"]);
  for (let i = 0; i < 3; i++) {
    await run();
  }
  expect(first?.requests).toHaveLength(1);
  expect(first?.closed).toBe(false);
  free();
  expect(await running).toHaveLength(3);
  expect(first?.closed).toBe(true);
});

test("an idle server that is gone is closed at once, told of and checked no more", async () => {
  const { fleet, engines, model, clock, left } = fixture([1, 1]);
  await settle();
  reconfigure(fleet, [withServers(model, "server-1")]);
  expect(engines[0]?.closed).toBe(true);
  expect(left).toEqual(["server-0:8000/m"]);
  const { checks = 0 } = engines[0] ?? {};
  clock.advance(60_000);
  await settle();
  expect(engines[0]?.checks).toBe(checks);
});

test("requests that wait go to a server that is added", async () => {
  const { fleet, engines, model, run } = fixture([1]);
  engines[0]?.scripts.push(["silence"]);
  void run().catch(() => {});
  const waiting = run();
  await settle();
  reconfigure(fleet, [withServers(model, "server-0", "server-1")]);
  expect(await waiting).toEqual(whole);
  expect(engines[1]?.requests).toHaveLength(1);
});

test("a changed server is made anew", () => {
  const { fleet, engines, model } = fixture([1]);
  reconfigure(fleet, [{ ...model, system_anywhere: true }]);
  expect(engines.map(({ closed }) => closed)).toEqual([true, false]);
  reconfigure(fleet, [{ ...model, system_anywhere: true }]);
  expect(engines).toHaveLength(2);
});

test("another way to choose holds at once, on the same servers", async () => {
  const { fleet, engines, model, run } = fixture([1, 1, 1]);
  const routings = () => fleet.servers().map(({ routing }) => routing);
  expect(routings()).toEqual(["round-robin", "round-robin", "round-robin"]); // as fleet.routing says
  const chat = { prompt: { case: "text", value: "a long story ".repeat(100) } } as const;
  const counts = async () => {
    const before = engines.map(({ requests }) => requests.length);
    for (let i = 0; i < 6; i++) {
      await run(chat);
    }
    return engines.map(({ requests }, index) => requests.length - (before[index] ?? 0));
  };
  expect(await counts()).toEqual([2, 2, 2]);
  reconfigure(fleet, [{ ...model, routing: "prefix" }]);
  expect(routings()).toEqual(["prefix", "prefix", "prefix"]);
  expect(Math.max(...(await counts()))).toBeGreaterThan(4); // one of a hundred explores
  reconfigure(fleet, [model]);
  expect(await counts()).toEqual([2, 2, 2]);
  expect(engines).toHaveLength(3);
});

test("a server that is one for several models is drained and resumed for all of them", () => {
  const { fleet, model } = fixture([1]);
  const servers = model.servers.map((server) => ({ ...server, model: "own" }));
  reconfigure(fleet, [
    { ...model, servers },
    { ...model, id: "other", servers },
  ]);
  const states = () => fleet.servers().map(({ id, state }) => [id, state]);
  fleet.drain("server-0:8000/own");
  expect(states()).toEqual(Array(2).fill(["server-0:8000/own", ServerState.DRAINING]));
  fleet.resume("server-0:8000/own");
  expect(states()).toEqual(Array(2).fill(["server-0:8000/own", ServerState.HEALTHY]));
});

test("models come and go", async () => {
  const { fleet, model, run } = fixture([1]);
  reconfigure(fleet, [{ ...model, id: "other" }]);
  const error = await run().catch((failure) => failure);
  expect(readDetail(error)?.reason).toBe(Reason.MODEL_NOT_FOUND);
  reconfigure(fleet, [model, { ...model, id: "other" }]);
  expect(await run()).toEqual(whole);
  expect(fleet.servers().map(({ model: served }) => served)).toEqual(["m", "other"]);
});
