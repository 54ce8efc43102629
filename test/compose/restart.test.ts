import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { useServer } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// SIGTERM under a running stream, with an inference server that speaks when the test says so.

let engine: Server;
let site: Site;
let streams: ServerResponse[];

const model = "slow/model";
const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const say = (response: ServerResponse | undefined, content: string, finishReason: string | null = null) =>
  response?.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finishReason }], usage })}\n\n`,
  );

beforeEach(async () => {
  streams = [];
  engine = createServer((request, response) => {
    request.resume();
    if (request.method !== "POST") {
      response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    say(response, "begun");
    streams.push(response);
  }).listen(0, "127.0.0.1");
  await once(engine, "listening");
  site = await createSite();
});

afterEach(async () => {
  await site.remove();
  engine.close().closeAllConnections();
});

async function configure(more: object = {}): Promise<string> {
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  return site.configure({ ...freePorts, models: [{ id: model, servers: [{ url, engine: "openai" }] }], ...more });
}

async function customer(tollgate: Tollgate): Promise<string> {
  const { id } = (await tollgate.admin("accounts", "create", "--name", "customer")) as { id: string };
  return ((await tollgate.admin("keys", "create", id)) as { key: string }).key;
}

async function begin(tollgate: Tollgate, key: string): Promise<ReadableStreamDefaultReader<string>> {
  const response = await fetch(`${tollgate.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello" }] }),
  });
  if (response.status !== 200) {
    throw new Error(`answered ${response.status}: ${await response.text()}`);
  }
  if (response.body === null) {
    throw new Error("no body");
  }
  return response.body.pipeThrough(new TextDecoderStream()).getReader();
}

async function rest(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
  }
  return text;
}

async function statusOf(url: string): Promise<number | "refused"> {
  return fetch(url).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => "refused",
  );
}

/** Requests that run on a core. */
async function holdsOf({ addresses }: Tollgate): Promise<number> {
  const metrics = await (await fetch(`http://${addresses.admin}/metrics`)).text();
  return Number(/^tollgate_holds (\d+)$/m.exec(metrics)?.[1]);
}

test("SIGTERM: unready at once and new requests refused, while the stream that runs finishes", async () => {
  const tollgate = await startTollgate(site, "serve", "--config", await configure());
  const key = await customer(tollgate);
  const readyz = `http://${tollgate.addresses.admin}/readyz`;
  expect(await statusOf(readyz)).toBe(200);
  const reader = await begin(tollgate, key);
  expect((await reader.read()).value).toContain("begun");
  tollgate.process.kill("SIGTERM");
  await eventually("it is unready", async () => (await statusOf(readyz)) === 503);
  await eventually("requests are refused", async () => (await statusOf(`${tollgate.url}/v1/models`)) === "refused");
  expect(await statusOf(`http://${tollgate.addresses.admin}/livez`)).toBe(200);
  say(streams[0], " and done", "stop");
  streams[0]?.end("data: [DONE]\n\n");
  expect(await rest(reader)).toMatch(/and done[\s\S]*\[DONE\]/);
  expect(await tollgate.ended).toBe(0);
}, 60_000);

test("a stream that outlives shutdown.grace_s ends with the reason, which is recorded, and the process ends", async () => {
  const config = await configure({ shutdown: { grace_s: 0.5 } });
  const before = await startTollgate(site, "serve", "--config", config);
  const reader = await begin(before, await customer(before));
  await reader.read();
  before.process.kill("SIGTERM");
  expect(await rest(reader)).toContain("The service is shutting down.");
  expect(await before.ended).toBe(0);
  const after = await startTollgate(site, "serve", "--config", config);
  expect(await after.admin("requests")).toMatchObject([{ reason: "SHUTTING_DOWN", http_status: 503 }]);
  expect(await after.stop()).toBe(0);
}, 60_000);

test("facades go over to the other core while one restarts, and no request fails", async () => {
  const postgresql = await useServer();
  const shared = {
    TOLLGATE_STORAGE_URL: await postgresql.createDatabase(),
    TOLLGATE_RATE_LIMIT_URL: process.env.TOLLGATE_TEST_REDIS_URL,
  };
  const secrets = {
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
    TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789-0123456789",
  };
  Object.assign(site.env, shared, secrets);
  // As many streams as it takes to reach both cores: the tier bounds them as the free tier does.
  const config = await configure({ rate_tiers: [{ rpm: 10_000 }], free_tier: { rpm: 10_000 } });
  const cores = [
    await startTollgate(site, "core", "--config", config),
    await startTollgate(site, "core", "--config", config),
  ];
  const [first, second] = cores as [Tollgate, Tollgate];
  const target = `ipv4:${first.addresses.grpc},${second.addresses.grpc}`;
  const file = await site.configure(freePorts, "facade.yaml");
  const facade = await startTollgate(site, "facade", "--core", target, "--config", file);
  try {
    const key = await customer(first);
    const readers: Awaited<ReturnType<typeof begin>>[] = [];
    // On a busy machine the facade reaches one core some time before the other.
    await eventually("one of four streams or more runs on the first core", async () => {
      const reader = await begin(facade, key);
      await reader.read();
      readers.push(reader);
      return readers.length >= 4 && (await holdsOf(first)) > 0;
    });
    first.process.kill("SIGTERM");
    await eventually(
      "the first is unready",
      async () => (await statusOf(`http://${first.addresses.admin}/readyz`)) === 503,
    );
    const later = await Promise.all(Array.from({ length: 6 }, () => begin(facade, key)));
    for (const reader of later) {
      await reader.read();
    }
    for (const stream of streams) {
      say(stream, " and done", "stop");
      stream.end("data: [DONE]\n\n");
    }
    const texts = await Promise.all([...readers, ...later].map(rest));
    expect(texts.filter((text) => !text.includes("[DONE]"))).toEqual([]);
    expect(await first.ended).toBe(0);
    expect(await second.admin("reconcile")).toMatchObject({ ok: true });
  } finally {
    await Promise.all([facade.stop(), first.stop(), second.stop()]);
    await postgresql.stop();
  }
}, 90_000);
