import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// What requests leave behind: nothing of their prompts, however they ended, while their clients' connections stay open.

const model = "m";
const vectors = "v";
const dimensions = 8;

/** Requests of both surfaces, each with its prompt. */
const kinds: readonly (readonly [path: string, body: (prompt: string) => object])[] = [
  ["/v1/chat/completions", (content) => ({ model, max_tokens: 10, messages: [{ role: "user", content }] })],
  [
    "/v1/chat/completions",
    (content) => ({ model, max_tokens: 10, stream: true, messages: [{ role: "user", content }] }),
  ],
  ["/v1/completions", (prompt) => ({ model, max_tokens: 10, prompt })],
  ["/v1/embeddings", (input) => ({ model: vectors, input })],
  ["/v1/messages", (content) => ({ model, max_tokens: 10, messages: [{ role: "user", content }] })],
  ["/v1/messages", (content) => ({ model, max_tokens: 10, stream: true, messages: [{ role: "user", content }] })],
];
/** In characters: one comes in one read, the other in many, after its key was checked. */
const sizes = [500, 150_000];
const together = kinds.length * sizes.length;

let engine: Server;
let site: Site;
let tollgate: Tollgate;
let key: string;
/** Keeps every connection open. */
const agent = new Agent({ keepAlive: true });
/** The beginnings of all prompts, by which a snapshot tells them. */
const names: string[] = [];

beforeAll(async () => {
  engine = createServer((incoming, response) => void serve(incoming, response)).listen(0, "127.0.0.1");
  await once(engine, "listening");
  site = await createSite({ NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" });
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  const servers = [{ url, engine: "openai", capacity: 500 }];
  const config = await site.configure({
    ...freePorts,
    rate_tiers: [{ rpm: 100_000 }],
    models: [
      { id: model, context_length: 1_000_000, servers },
      { id: vectors, kind: "embedding", context_length: 1_000_000, dimensions, servers },
    ],
  });
  tollgate = await startTollgate(site, "serve", "--config", config);
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "500", "--ref", "payment");
  ({ key } = (await tollgate.admin("keys", "create", id)) as { key: string });
}, 120_000);
afterAll(async () => {
  agent.destroy();
  await tollgate?.stop();
  engine?.close().closeAllConnections();
  await site?.remove();
});

/** Answers as the prompt's name says. */
async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(incoming);
  const embeds = incoming.url?.endsWith("/embeddings");
  if (incoming.method !== "POST") {
    response.end(JSON.stringify({ object: "list", data: [model, vectors].map((id) => ({ id, object: "model" })) }));
  } else if (body.includes("-refused-by-engine") || body.length > 300_000) {
    response.writeHead(400).end("{}");
  } else if (body.includes("-never-answered") || (embeds && body.includes("-never-ended"))) {
    response.flushHeaders();
  } else if (embeds) {
    const data = [{ index: 0, embedding: Array(dimensions).fill(0.5) }];
    response.end(JSON.stringify({ object: "list", data, usage: { prompt_tokens: 5, total_tokens: 5 } }));
  } else {
    const isOpen = body.includes("-never-ended");
    const choices = [{ index: 0, delta: { content: "fine" }, finish_reason: isOpen ? null : "stop" }];
    const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
    response.setHeader("content-type", "text/event-stream");
    response.write(`data: ${JSON.stringify({ choices, usage })}\n\n`);
    if (!isOpen) {
      response.end("data: [DONE]\n\n");
    }
  }
}

/** Sends one request of each kind and size, whose prompts begin with a name of their own that ends so. */
function send(ending: string, changes: { readonly body?: object; readonly key?: string } = {}): ClientRequest[] {
  return kinds.flatMap(([path, bodyOf]) =>
    sizes.map((size) => {
      const name = `prompt-${names.length}-${ending}`;
      names.push(name);
      const body = JSON.stringify({ ...bodyOf(`${name} `.padEnd(size, "word ")), ...changes.body });
      const headers = { authorization: `Bearer ${changes.key ?? key}`, "content-type": "application/json" };
      const sent = request(tollgate.url + path, { method: "POST", agent, headers });
      sent.on("error", () => {}).end(body); // it may be destroyed
      return sent;
    }),
  );
}

async function statuses(sent: readonly ClientRequest[]): Promise<(number | undefined)[]> {
  const read = async (one: ClientRequest) => {
    const [response] = (await once(one, "response")) as [IncomingMessage];
    await text(response);
    return response.statusCode;
  };
  return Promise.all(sent.map(read));
}

/** Requests that run on a server or wait for one, by the metrics. */
async function running(): Promise<number> {
  const page = await (await fetch(`http://${tollgate.addresses.admin}/metrics`)).text();
  const counts = page.matchAll(/^tollgate_(?:server_in_flight|queue_length)\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** The names of the prompts that a collection leaves in the process's memory. */
async function promptsInMemory(): Promise<string[]> {
  const find = () => readdirSync(site.folder).find((name) => name.endsWith(".heapsnapshot"));
  tollgate.process.kill("SIGUSR2");
  const file = join(site.folder, await eventually("a snapshot", find));
  // Its strings come last.
  const read = () => {
    const snapshot = readFileSync(file, "latin1");
    return snapshot.endsWith("]}") || snapshot.endsWith("]}\n") ? snapshot : undefined;
  };
  const snapshot = await eventually("the whole snapshot", read, 90);
  rmSync(file);
  return names.filter((name) => snapshot.includes(`${name} `));
}

test("nothing of a prompt stays in memory once its request has ended, however it ended", async () => {
  expect(await statuses(send("whole"))).toEqual(Array(together).fill(200));
  expect(await statuses(send("refused-by-engine"))).toEqual(Array(together).fill(400));
  expect(await statuses(send("of-no-model", { body: { model: "nothing" } }))).toEqual(Array(together).fill(404));
  expect(await statuses(send("malformed", { body: { model: 5 } }))).toEqual(Array(together).fill(400));
  expect(await statuses(send("keyless", { key: "nothing" }))).toEqual(Array(together).fill(401));
  const abandoned = [...send("never-answered"), ...send("never-ended")];
  await eventually("the requests run", async () => (await running()) === abandoned.length);
  expect(await promptsInMemory()).toEqual(names.filter((name) => name.includes("-never-")));
  for (const one of abandoned) {
    one.destroy();
  }
  await eventually("nothing runs", async () => (await running()) === 0);
  expect(await promptsInMemory()).toEqual([]);
}, 300_000);
