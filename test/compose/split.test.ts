import { readdir } from "node:fs/promises";
import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import type { Simulator } from "../../simulator/server.ts";
import { pause } from "../support/pause.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// One process, or core and facade apart: a client must not be able to tell.

let fleet: Simulator[];
let sites: Site[];
let whole: Tollgate;
let core: Tollgate;
let facade: Tollgate;
const keys = new Map<Tollgate, string>();

async function keyOf(tollgate: Tollgate): Promise<string> {
  const { id } = (await tollgate.admin("accounts", "create", "--name", "test")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  return key;
}

beforeAll(async () => {
  fleet = await startDefaultFleet({ speed: 0 });
  const config = { ...freePorts, models: defaultFleetConfig(fleet) };
  sites = await Promise.all([createSite(), createSite(), createSite()]);
  const [first, second, third] = sites as [Site, Site, Site];
  whole = await startTollgate(first, "serve", "--config", await first.configure(config));
  core = await startTollgate(second, "core", "--config", await second.configure(config));
  facade = await startTollgate(
    third,
    ...["facade", "--core", String(core.addresses.grpc), "--config", await third.configure(freePorts)],
  );
  keys.set(whole, await keyOf(whole));
  keys.set(facade, await keyOf(core));
}, 90_000);

afterAll(async () => {
  await Promise.all([whole, facade, core].map((tollgate) => tollgate?.stop()));
  await Promise.all(fleet.map((simulator) => simulator.close()));
  await Promise.all(sites.map((site) => site.remove()));
}, 60_000);

/** Everything that a client sees but what differs between any two requests. */
async function exchange(tollgate: Tollgate, path: string, body: object | undefined, key = keys.get(tollgate)) {
  const response = await fetch(`${tollgate.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = (await response.text())
    .replaceAll(/(chatcmpl|cmpl|msg|req|toolu|call)[-_][\w-]+/g, "$1-ID")
    .replaceAll(/"created":\d+/g, '"created":0')
    .replaceAll(/"created_at":"[^"]+"/g, '"created_at":""')
    .replaceAll(/"(id|account_id|last4|prefix|key_id)":"[^"]+"/g, '"$1":""');
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const headers = [...response.headers].filter(
    ([name]) => !/^(date|.*request-id|inference-id|.*-(reset|remaining).*|content-length)$/.test(name),
  );
  return { status: response.status, headers, text: isStream ? joinPieces(text) : text };
}

/**
 * Joins events that differ in the piece of text alone: what waits for a reader is handed on in fewer pieces, so that
 * where an answer is cut depends on time. All else, the order of events and each byte of the text, is compared.
 */
function joinPieces(stream: string): string {
  const joined: { before: string; piece: string; after: string }[] = [];
  for (const event of stream.split(/(?<=\n\n)/)) {
    const [, before = event, piece = "", after = ""] =
      /^(.*"(?:content|reasoning|text|thinking|partial_json|arguments)":")((?:[^"\\]|\\.)*)(".*)$/s.exec(event) ?? [];
    const last = joined.at(-1);
    if (piece !== "" && last?.piece && last.before === before && last.after === after) {
      last.piece += piece;
    } else {
      joined.push({ before, piece, after });
    }
  }
  return joined.map(({ before, piece, after }) => before + piece + after).join("");
}

const messages = [{ role: "user", content: "Tell me about toll gates." }];
const weather = { type: "object", properties: { city: { type: "string" } } };
const chat = (more: object) => ({ model: "tollgate-sim/plain", messages, seed: 7, max_tokens: 60, ...more });
const message = (more: object) => ({ model: "tollgate-sim/reasoner-on", messages, max_tokens: 60, ...more });

test.each<[string, string, object | undefined]>([
  ["a plain chat", "/v1/chat/completions", chat({})],
  ["a streamed chat", "/v1/chat/completions", chat({ stream: true, stream_options: { include_usage: true } })],
  ["a thinking chat", "/v1/chat/completions", chat({ model: "tollgate-sim/reasoner-always", stream: true })],
  [
    "a tool call",
    "/v1/chat/completions",
    chat({
      stream: true,
      tools: [{ type: "function", function: { name: "w", parameters: weather } }],
      tool_choice: "required",
    }),
  ],
  ["a completion", "/v1/completions", { model: "tollgate-sim/plain", prompt: "Once upon", max_tokens: 20, seed: 7 }],
  ["embeddings", "/v1/embeddings", { model: "tollgate-sim/embedder", input: ["one", "two"] }],
  ["a plain message", "/v1/messages", message({})],
  ["a streamed message", "/v1/messages", message({ stream: true })],
  ["a count", "/v1/messages/count_tokens", { model: "tollgate-sim/plain", messages }],
  ["the models", "/v1/models", undefined],
  ["one model", "/v1/models/tollgate-sim%2Fplain", undefined],
  ["an unknown model", "/v1/chat/completions", chat({ model: "gpt-4o" })],
  ["a wrong field", "/v1/chat/completions", chat({ messages: [{ role: "user", content: [{ type: "image_url" }] }] })],
  ["an unknown route", "/v1/nothing", {}],
])("%s is the same from both", async (_, path, body) => {
  const [one, other] = await Promise.all([exchange(whole, path, body), exchange(facade, path, body)]);
  expect(other).toEqual(one);
  expect(one.text.length).toBeGreaterThan(0);
});

test.each([
  [
    "/v1/chat/completions",
    (parameters: object) => chat({ tools: [{ type: "function", function: { name: "f", parameters } }] }),
  ],
  ["/v1/messages", (input_schema: object) => message({ tools: [{ name: "f", input_schema }] })],
])("a body that grows beyond what the wire takes is too large from both: %s", async (path, request) => {
  // 1e20 is written with 21 digits.
  const body = JSON.stringify(request({ enum: "many" })).replace(
    '"many"',
    `[${Array(300_000).fill("1e20").join(",")}]`,
  );
  const both = await Promise.all(
    [whole, facade].map(async (tollgate) => {
      const headers = { authorization: `Bearer ${keys.get(tollgate)}`, "content-type": "application/json" };
      const response = await fetch(tollgate.url + path, { method: "POST", headers, body });
      return { status: response.status, text: (await response.text()).replaceAll(/req_\w+/g, "ID") };
    }),
  );
  expect(both[0]?.status).toBe(413);
  expect(both[0]?.text).toContain("request_too_large");
  expect(both[1]).toEqual(both[0]);
});

test("a wrong key is refused alike", async () => {
  const [one, other] = await Promise.all(
    [whole, facade].map((at) => exchange(at, "/v1/chat/completions", chat({}), "tg-wrong")),
  );
  expect(one?.status).toBe(401);
  expect(other).toEqual(one);
});

test("a facade makes no secret and no database", async () => {
  const [, atCore, atFacade] = await Promise.all(sites.map(({ folder }) => readdir(folder, { recursive: true })));
  const kept = (names: readonly string[] = []) => names.filter((name) => /token|pepper|\.db/.test(name));
  expect(kept(atCore).length).toBeGreaterThan(2);
  expect(kept(atFacade)).toEqual([]);
});

test("clients of a facade that leave, however many, end nobody else's answer", async () => {
  const { id } = (await core.admin("accounts", "create", "--name", "leaves")) as { id: string };
  const { key } = (await core.admin("keys", "create", id, "--rpm", "1000000")) as { key: string };
  const stalled = JSON.stringify(
    chat({ messages: [{ role: "user", content: "Hello [[sim:stall=2]]" }], stream: true }),
  );
  const headers = { authorization: `Bearer ${key}` };
  const stays = new AbortController();
  const answer = await fetch(`${facade.url}/v1/chat/completions`, {
    ...{
      method: "POST",
      headers: { authorization: `Bearer ${keys.get(facade)}` },
      body: stalled,
      signal: stays.signal,
    },
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  let isOver = false;
  const over = (async () => {
    while (!(await reader.read()).done) {}
    isOver = true;
  })().catch(() => {});

  const agent = new Agent({ keepAlive: true });
  const leave = async () => {
    const call = request(`${facade.url}/v1/chat/completions`, { method: "POST", headers, agent });
    call.on("error", () => {}).end(stalled);
    await pause(15, "a client leaves while its request is under way");
    call.destroy();
  };
  for (let i = 0; i < 1600 && !isOver; i += 16) {
    await Promise.all(Array.from({ length: 16 }, leave));
  }
  expect(isOver).toBe(false);
  stays.abort();
  await over;
  agent.destroy();
});
