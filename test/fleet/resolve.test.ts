import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { systemLookup } from "#lib/net/lookup.ts";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { createFleet } from "#src/fleet/create-fleet.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import { startSimulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { silentLogger } from "../support/loggers.ts";
import { chatRequest } from "./engines/requests.ts";

// A name with several addresses of this machine, behind each of which a real server listens.

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) {
    await clean();
  }
});

/** A fleet that finds its servers by a name whose addresses the test changes. */
function fleetOf(url: string, addresses: () => readonly string[], model: object = {}) {
  const config = configSchema.parse({
    fleet: { routing: "round-robin", resolve_interval_s: 0.05, health_interval_s: 0.2, connect_timeout_s: 2 },
    models: [{ id: "m", servers: [{ url, resolve: true }], ...model }],
  });
  const models = config.models.map((one) => ({ ...one, createdAt: new Date(0) }));
  const [served] = models;
  if (served === undefined) {
    throw new Error("there is no model");
  }
  const fleet = createFleet({
    ...{ models, config: config.fleet, clock: systemClock, random: systemRandom, logger: silentLogger },
    engines: (server, one) => createEngine(server, one, config.fleet, systemClock),
    lookup: async () => addresses(),
    observer: { waited() {}, failed() {}, firstToken() {}, shed() {}, implausible() {}, left() {} },
  });
  cleanUp.push(() => fleet.close());
  const run = (maxOutputTokens = 5) =>
    fleet.generate(served, { ...chatRequest("Hi"), maxOutputTokens }, new AbortController().signal);
  const ids = () => fleet.servers().map(({ id }) => id);
  return { fleet, run, ids };
}

/** Reads an answer to its end. */
async function finish(answer: AsyncIterable<EngineOutput>): Promise<EngineOutput[]> {
  const outputs: EngineOutput[] = [];
  for await (const output of answer) {
    outputs.push(output);
  }
  return outputs;
}

test("a name's addresses are followed, also once the file of another server's API key is gone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-resolve-"));
  cleanUp.push(() => rm(folder, { recursive: true }));
  const key = join(folder, "key");
  await writeFile(key, "a-key");
  let addresses = ["127.0.0.2"];
  const keyed = { url: "http://127.0.0.9:9", api_key_file: key };
  const { ids } = fleetOf("", () => addresses, { servers: [{ url: "http://engine.invalid:9", resolve: true }, keyed] });
  await eventually("the first address is used", () => ids().includes("engine.invalid:9@127.0.0.2/m"));
  await rm(key);
  addresses = ["127.0.0.3"];
  await eventually("the other address is used", () => ids().includes("engine.invalid:9@127.0.0.3/m"));
});

test("every address is a server; one that goes finishes its streams", async () => {
  const first = await startSimulator({ models: ["m"], host: "127.0.0.2", speed: 0.1 });
  cleanUp.push(() => first.close());
  const { port } = new URL(first.url);
  const second = await startSimulator({ models: ["m"], host: "127.0.0.3", port: Number(port), speed: 0 });
  cleanUp.push(() => second.close());
  let addresses = ["127.0.0.2"];
  const { fleet, run, ids } = fleetOf(`http://engine.invalid:${port}`, () => addresses);
  const stream = run(60)[Symbol.asyncIterator](); // waits for the first lookup and check
  expect((await stream.next()).done).toBe(false);

  addresses = ["127.0.0.3"];
  await eventually("the new address is used", () => ids().join() === `engine.invalid:${port}@127.0.0.3/m`);
  for (let i = 0; i < 3; i++) {
    expect((await finish(run())).at(-1)?.finish).toBeDefined();
  }
  const rest = await finish({ [Symbol.asyncIterator]: () => stream });
  expect(rest.at(-1)?.finish).toBeDefined();

  addresses = ["127.0.0.2", "127.0.0.3"];
  await eventually(
    "both are probed",
    () => fleet.servers().filter(({ running }) => running !== undefined).length === 2,
  );
}, 30_000);

test("what comes over the wire keeps the name, in the Host header and for TLS", async () => {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      heard.push(bytes.toString("latin1"));
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.4", resolve));
  cleanUp.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as { port: number };
  for (const scheme of ["http", "https"]) {
    fleetOf(`${scheme}://engine.invalid:${port}`, () => ["127.0.0.4"]);
    await eventually("the server hears it", () =>
      heard.some((bytes) => bytes.includes(scheme === "http" ? "GET /" : "\x16\x03")),
    );
  }
  expect(heard.find((bytes) => bytes.startsWith("GET"))).toMatch(new RegExp(`^host: engine.invalid:${port}`, "im"));
  expect(heard.find((bytes) => bytes.startsWith("\x16\x03"))).toContain("engine.invalid"); // in the ClientHello
});

test("the machine's own lookup finds a host of both kinds by its addresses of IPv4", async () => {
  expect(await systemLookup("127.0.0.1")).toEqual(["127.0.0.1"]);
  expect(await systemLookup("localhost")).toEqual(["127.0.0.1"]);
});
