import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Received, type ScriptedServer, scriptedServer } from "../fleet/engines/scripted-server.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// Whatever goes wrong, neither the log nor a metric quotes what clients or engines said, or a key or token.

const prompt = "MARKEDPROMPT";
const answer = "MARKEDANSWER";
const wrongKey = "tg-MARKEDKEY";

/** Ways in which an engine may answer, by the model's name; most of them are wrong and all of them quote. */
const manners: Record<string, (response: ServerResponse, body: string) => void> = {
  well: (response) => events(response, delta(answer), finished, "[DONE]"),
  refusing: (response, body) => response.writeHead(400).end(JSON.stringify({ error: { message: `bad: ${body}` } })),
  failing: (response, body) => response.writeHead(500).end(`${body} ${answer}`),
  babbling: (response) => events(response, `${answer} is no JSON`),
  malformed: (response) => events(response, JSON.stringify({ choices: answer })),
  scolding: (response, body) =>
    events(response, delta(answer), JSON.stringify({ error: { message: body, code: 500 } })),
  breaking: (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${delta(answer)}\n\n`, () => response.destroy());
  },
  speechless: (response) =>
    events(response, JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }), "[DONE]"),
  uncounted: (response) =>
    events(response, JSON.stringify({ choices: [{ index: 0, delta: { content: answer } }] }), "[DONE]"),
};

const usage = { prompt_tokens: 7, completion_tokens: 1 };
const delta = (content: string) => JSON.stringify({ choices: [{ index: 0, delta: { content } }], usage });
const finished = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage });

function events(response: ServerResponse, ...all: string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(all.map((data) => `data: ${data}\n\n`).join(""));
}

const answerChat = ({ body }: Received, response: ServerResponse) =>
  manners[body.model]?.(response, JSON.stringify(body));

let engine: ScriptedServer;
let site: Site;
let tollgate: Tollgate;
let key: string;
const output: string[] = [];

beforeAll(async () => {
  engine = await scriptedServer({
    "/health": (_, response) => response.end(),
    "/v1/chat/completions": answerChat,
    "/v1/embeddings": ({ body }, response) => response.writeHead(500).end(JSON.stringify(body)),
    "/tokenize": ({ body }, response) => response.writeHead(500).end(JSON.stringify(body)),
  });
  site = await createSite({ TOLLGATE_LOG_LEVEL: "debug" });
  const servers = [{ url: engine.url, engine: "vllm" }];
  const models = [
    ...Object.keys(manners).map((id) => ({ id, servers })),
    { id: "vectors", kind: "embedding", servers },
  ];
  const config = await site.configure({
    ...freePorts,
    models,
    fleet: { queue_timeout_s: 1 },
    rate_tiers: [{ rpm: 10_000 }],
    free_tier: { rpm: 10_000 },
  });
  tollgate = await startTollgate(site, "serve", "--config", config);
  tollgate.process.stdout?.on("data", (data: Buffer) => output.push(data.toString()));
  tollgate.process.stderr?.on("data", (data: Buffer) => output.push(data.toString()));
  const { id } = (await tollgate.admin("accounts", "create", "--name", "test")) as { id: string };
  ({ key } = (await tollgate.admin("keys", "create", id)) as { key: string });
}, 60_000);

afterAll(async () => {
  await tollgate?.stop();
  await engine?.[Symbol.asyncDispose]();
  await site?.remove();
}, 60_000);

const post = async (path: string, body: string, secret = key) => {
  const headers = { authorization: `Bearer ${secret}` };
  const response = await fetch(`${tollgate.url}${path}`, { method: "POST", headers, body });
  return response.text().catch(() => ""); // a stream may break off
};

const messages = [
  { role: "system", content: prompt },
  { role: "user", content: prompt },
];

test("no prompt, answer, key or token is logged or in a metric, whatever happens", async () => {
  for (const model of Object.keys(manners)) {
    for (const stream of [false, true]) {
      await post("/v1/chat/completions", JSON.stringify({ model, messages, stream, stop: [prompt] }));
      await post("/v1/messages", JSON.stringify({ model, messages: messages.slice(1), stream, max_tokens: 9 }));
    }
  }
  await post("/v1/embeddings", JSON.stringify({ model: "vectors", input: [prompt] }));
  await post("/v1/embeddings", JSON.stringify({ model: "vectors", input: prompt.repeat(2000) }));
  await post("/v1/messages/count_tokens", JSON.stringify({ model: "well", messages: messages.slice(1) }));
  await post("/v1/chat/completions", `{"model": "well", "messages": ${prompt}`);
  await post("/v1/chat/completions", JSON.stringify({ model: "well", messages: prompt }));
  await post("/v1/chat/completions", JSON.stringify({ model: prompt, messages }));
  await post("/v1/chat/completions", JSON.stringify({ model: "well", messages: [{ role: prompt, content: prompt }] }));
  await post("/v1/chat/completions", JSON.stringify({ model: "well", messages }), wrongKey);
  await post(`/v1/${prompt}?key=${key}`, "{}");
  const operator = await readFile(join(site.folder, "data", "operator-token"), "utf8");
  const metrics = await (await fetch(`http://${tollgate.addresses.admin}/metrics`)).text();
  await tollgate.stop();

  expect(metrics).toContain("tollgate_");
  const written = output.join("") + JSON.stringify(tollgate.log) + metrics;
  for (const reason of ["ENGINE_FAILED", "UNAUTHENTICATED", "MODEL_NOT_FOUND"]) {
    expect(written).toContain(reason);
  }
  expect(written).toContain("unbilled usage");
  // Errors of parsers quote a few characters of what they could not parse.
  for (const secret of ["MARKED", key, key.slice(-20), operator.trim()]) {
    expect(written).not.toContain(secret);
  }
}, 60_000);

test("every call's line has its request id", () => {
  const calls = tollgate.log.filter(({ msg, method }) => msg === "call" && String(method).endsWith("/Generate"));
  const identified = calls.filter(({ reason }) => reason !== "UNAUTHENTICATED");
  expect(identified.length).toBeGreaterThan(Object.keys(manners).length);
  for (const { requestId } of identified) {
    expect(requestId).toMatch(/^req_\w{32}$/);
  }
});
