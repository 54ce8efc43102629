import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { startSimulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, logs, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { scrape } from "../telemetry/scrape.ts";

// The real program is told to read its configuration again while a stream runs.

type Simulator = Awaited<ReturnType<typeof startSimulator>>;

let simulators: Simulator[];
let site: Site;
let tollgate: Tollgate;
let file: string;
let openai: OpenAI;

const price = { input: "0.20", output: "0.40" };
const model = (id: string, simulator: Simulator | undefined, facts: object = {}) => ({
  id,
  price,
  servers: [{ url: simulator?.url, engine: "simulator", model: "one" }],
  ...facts,
});

beforeAll(async () => {
  const models = ["one"];
  simulators = await Promise.all([0.05, 1].map((speed) => startSimulator({ models, speed })));
  site = await createSite();
  file = await site.configure({ ...freePorts, models: [model("stays", simulators[0]), model("goes", simulators[0])] });
  tollgate = await startTollgate(site, "serve", "--config", file);
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  openai = new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
}, 60_000);
afterAll(async () => {
  await tollgate?.stop();
  await Promise.all(simulators.map((simulator) => simulator.close()));
  await site?.remove();
});

/** Writes the models, sends SIGHUP, and waits for the line that tells what came of it. */
async function reload(config: object | string): Promise<Record<string, unknown>> {
  const seen = tollgate.log.length;
  await writeFile(file, typeof config === "string" ? config : JSON.stringify({ ...freePorts, ...config }, null, 2));
  tollgate.process.kill("SIGHUP");
  return eventually("the reload is told of", () =>
    tollgate.log.slice(seen).find(({ msg }) => String(msg).startsWith("configuration re")),
  );
}

const served = async () => (await openai.models.list()).data.map(({ id }) => id);
const ask = (id: string) =>
  openai.chat.completions.create({ model: id, messages: [{ role: "user", content: "Hi" }], max_tokens: 3 });

test("a stream runs on while its server and its model leave, and others take over", async () => {
  const messages = [{ role: "user" as const, content: "Hi" }];
  const streams = await Promise.all(
    ["stays", "goes"].map((id) =>
      openai.chat.completions.create({ model: id, messages, stream: true, max_tokens: 60 }),
    ),
  );
  const finished: (string | null | undefined)[] = [];
  const reading = streams.map(async (stream) => {
    let chunks = 0;
    for await (const { choices } of stream) {
      if (choices[0]?.delta.content) {
        chunks++;
      }
      if (choices[0]?.finish_reason) {
        finished.push(choices[0].finish_reason);
      }
    }
    return chunks;
  });
  const changed = {
    models: [model("stays", simulators[1], { price: { input: "0.30", output: "0.60" } }), model("new", simulators[1])],
    rate_tiers: [{ rpm: 17 }],
    free_tier: { rpm: 17 },
  };
  expect(await reload(changed)).toMatchObject({ msg: "configuration reloaded", models: 2 });
  expect(finished).toEqual([]); // the reload came in the middle of both
  expect(await served()).toEqual(["stays", "new"]);
  await expect(ask("goes")).rejects.toMatchObject({ status: 404 });
  expect((await ask("new")).choices[0]?.message.content).toMatch(/\w/);
  const servers = (await tollgate.admin("servers", "list")) as { url: string }[];
  expect(new Set(servers.map(({ url }) => url))).toEqual(new Set([simulators[1]?.url]));
  for (const chunks of await Promise.all(reading)) {
    expect(chunks).toBeGreaterThan(5);
  }
  expect(finished).toHaveLength(2);
  const { samples } = await scrape(tollgate);
  // Counters stay, as what happened did; gauges tell what is.
  const gone = [...samples.keys()].filter((name) => name.includes("goes") && !/_(total|bucket|sum|count)\{/.test(name));
  expect(gone).toEqual([]);
  for (const alarm of ["uncharged_requests", "unbilled_generations"]) {
    expect(samples.get(`tollgate_${alarm}_total{model="new"}`)).toBe(0); // from 0 on it can be seen to rise
  }
  const prices = (await tollgate.admin("prices", "list")) as { model: string; input: string; version: number }[];
  expect(prices).toMatchObject([
    { model: "stays", input: "0.30" },
    { model: "new", input: "0.20" },
  ]);
  const { response } = await ask("stays").withResponse();
  expect(response.headers.get("x-ratelimit-limit-requests")).toBe("17");
  expect(await tollgate.admin("reconcile")).toMatchObject({ ok: true });
}, 60_000);

test.each([
  ["is no YAML", "models: [", /tollgate\.yaml:1: is not one valid YAML document/],
  ["has a wrong field", { models: [{ id: "x" }] }, /models\[0\]\.servers: is missing/],
  ["has no models", {}, /models: must have at least 1 entry/],
])("a configuration that %s is refused whole", async (_, config, reason) => {
  expect(await reload(config)).toMatchObject({
    msg: "configuration refused, the old one stays",
    reason: expect.stringMatching(reason),
  });
  expect(await served()).toEqual(["stays", "new"]);
  expect((await ask("new")).choices[0]?.message.content).toMatch(/\w/);
});

test("what only a start reads is named", async () => {
  await reload({
    models: [model("stays", simulators[1])],
    keys: { max_per_account: 3 },
    rate_tiers: [{ rpm: 17 }],
    free_tier: { in_flight: 5 }, // is taken over
  });
  await logs(tollgate, { msg: "some changes need a restart", sections: ["keys"] });
  expect(await served()).toEqual(["stays"]);
});

test("a process without models in a file has nothing to reload, says so and goes on", async () => {
  const config = await site.configure(freePorts, "none.yaml");
  const none = await createSite();
  const simulated = await startTollgate(none, "serve", "--config", config);
  const facade = await startTollgate(none, "facade", "--core", String(tollgate.addresses.grpc), "--config", config);
  try {
    for (const started of [simulated, facade]) {
      started.process.kill("SIGHUP");
      await eventually("it says that there is nothing to reload", () =>
        started.log.some(({ msg }) => String(msg).startsWith("nothing to reload")),
      );
      expect((await fetch(`${started.url}/openapi.json`)).status).toBe(200);
    }
  } finally {
    expect(await Promise.all([simulated, facade].map((started) => started.stop()))).toEqual([0, 0]);
    await none.remove();
  }
}, 60_000);
