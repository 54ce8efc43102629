import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { harmful, json, messages, model } from "./hostile/bodies.ts";
import { type Canary, startCanary, startEngine, type WritingEngine } from "./hostile/engine.ts";
import { ambiguous, unreadable } from "./hostile/heads.ts";
import { closed, exchange, open, statusesOf } from "./hostile/sockets.ts";

// Clients that mean harm, over real sockets against the whole program, whose inference server writes down
// what reaches it. Whatever they do: no 500, no end of the process, and the next customer is served.

/** So that the connections whose head never ends are there while the others come, and no longer. */
const headerTimeoutS = 3;
const listen = { ...freePorts.listen, trusted_proxies: ["127.0.0.1"] };
let engine: WritingEngine;
let canary: Canary;
let site: Site;
let tollgate: Tollgate;
let address: string;
let key: string;
let loris: Socket[];

beforeAll(async () => {
  engine = await startEngine();
  canary = await startCanary();
  site = await createSite();
  const config = await site.configure({
    listen,
    http: { header_timeout_s: headerTimeoutS },
    models: [{ id: model, servers: [{ url: engine.url, engine: "openai" }] }],
  });
  tollgate = await startTollgate(site, "serve", "--config", config);
  address = String(tollgate.addresses.http);
  const { id } = (await tollgate.admin("accounts", "create", "--name", "customer")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "10", "--ref", "payment");
  ({ key } = (await tollgate.admin("keys", "create", id, "--rpm", "100000")) as { key: string });
  loris = Array.from({ length: 100 }, () => {
    const socket = open(address);
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\nx-slow: ");
    return socket;
  });
}, 60_000);

beforeEach(() => {
  engine.reached.length = 0;
});

afterEach(async () => {
  expect((await chat({})).status).toBe(200);
  expect(canary.fetched).toBe(0);
});

afterAll(async () => {
  for (const socket of loris ?? []) {
    socket.destroy();
  }
  await tollgate?.stop();
  await site?.remove();
  engine?.close();
  canary?.close();
}, 60_000);

function post(body: string | Buffer, headers: Record<string, string> = {}, path = "/v1/chat/completions") {
  return fetch(`${tollgate.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
}

const chat = (more: object, headers?: Record<string, string>) =>
  post(JSON.stringify({ model, messages, ...more }), headers);

test.each(ambiguous)("a request with %s is refused, and nothing behind it is run", async (_, bytes) => {
  const received = await exchange(bytes.replace("KEY", key), address);
  expect(statusesOf(received)).toEqual([400]);
  expect(engine.reached).toEqual([]);
});

test.each(unreadable)("%s is cut off", async (_, bytes, statuses) => {
  expect(statusesOf(await exchange(bytes, address))).toEqual(statuses);
});

test.each([
  "/v1/models/%zz",
  "/v1/models/%00",
  "/v1/models/..%2f..%2fetc%2fpasswd",
  "//",
  "/%2e%2e/",
  "/v1/models?limit=%ff",
])("the path %s is not known, or is wrong", async (path) => {
  const received = await exchange(
    `GET ${path} HTTP/1.1\r\nhost: t\r\nx-api-key: ${key}\r\nconnection: close\r\n\r\n`,
    address,
  );
  expect(statusesOf(received)[0]).toBeGreaterThanOrEqual(200);
  expect(statusesOf(received)[0]).toBeLessThan(500);
});

test("a request for another host's URL is never passed on", async () => {
  const target = `${canary.url}/v1/models`;
  const received = await exchange(
    `GET ${target} HTTP/1.1\r\nhost: t\r\nx-api-key: ${key}\r\nconnection: close\r\n\r\n`,
    address,
  );
  expect(statusesOf(received)[0]).toBeLessThan(500);
  expect(canary.fetched).toBe(0);
});

test("a hundred requests in one piece are answered one by one", async () => {
  const one = `GET /v1/models HTTP/1.1\r\nhost: t\r\nauthorization: Bearer ${key}\r\n`;
  const received = await exchange(`${`${one}\r\n`.repeat(99)}${one}connection: close\r\n\r\n`, address);
  expect(statusesOf(received)).toEqual(Array(100).fill(200));
});

test.each(harmful)(
  "%s on both surfaces",
  async (_, body) => {
    for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/completions", "/v1/embeddings"]) {
      const response = await post(body, {}, path);
      const { status } = response;
      const text = await response.text();
      expect([200, 400]).toContain(status);
      expect(text).not.toContain("polluted");
    }
  },
  60_000,
);

test("nothing of a caller's headers or names gets into the heads that engines read", async () => {
  const evil = "x\r\nx-injected: 1\r\n\r\nGET /admin HTTP/1.1\r\n";
  const headers = { "x-request-id": "mine", traceparent: "00-evil", "x-forwarded-for": "1.2.3.4", cookie: "a=b" };
  await chat({ user: evil, metadata: { [evil]: evil }, stop: [evil] }, headers);
  await chat({ model: evil });
  await chat({ messages: [{ role: "user", content: evil, name: evil }] }, { "openai-organization": "evil" });
  const messagesStyle = { model, max_tokens: 5, messages, metadata: { user_id: evil } };
  await post(JSON.stringify(messagesStyle), { "x-request-id": "mine" }, "/v1/messages");
  expect(engine.reached.length).toBeGreaterThanOrEqual(3);
  for (const { line, rawHeaders } of engine.reached) {
    expect(line).toBe("POST /v1/chat/completions");
    const text = rawHeaders.join("\n");
    expect(text).not.toMatch(/injected|mine|evil|1\.2\.3\.4|cookie|organization/i);
    expect(text).not.toContain(key);
  }
});

test("no address in a request is ever called, nor handed to an engine that might", async () => {
  const url = `${canary.url}/secret`;
  const parts = [
    { type: "image_url", image_url: { url } },
    { type: "input_audio", input_audio: { data: url, format: "wav" } },
    { type: "file", file: { file_id: url } },
  ];
  for (const part of parts) {
    expect((await chat({ messages: [{ role: "user", content: [part] }] })).status).toBe(400);
  }
  for (const type of ["image", "document"]) {
    const content = [{ type, source: { type: "url", url } }];
    const body = JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content }] });
    expect((await post(body, {}, "/v1/messages")).status).toBe(400);
  }
  await chat({ mcp_servers: [{ url }], callback_url: url, webhook: url, tools: [{ type: "mcp", server_url: url }] });
  await chat(
    { base_url: url, proxy: url },
    { "x-forwarded-host": url, referer: url, origin: url, forwarded: `host=${url}` },
  );
  expect(canary.fetched).toBe(0);
  for (const { rawHeaders, body } of engine.reached) {
    expect(rawHeaders.join("\n") + body).not.toContain(url);
  }
});

test("the console's cookie is no credential on any other port", async () => {
  const { addresses } = tollgate;
  const at = (listener: string, path: string) => `http://${addresses[listener]}${path}`;
  const token = await readFile(join(site.folder, "data", "operator-token"), "utf8");
  const signedIn = await fetch(at("console", "/session"), {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", "content-type": "application/json" },
    body: JSON.stringify({ operatorToken: token.trim() }),
  });
  const [name, session = ""] = signedIn.headers.getSetCookie()[0]?.split(";", 1)[0]?.split("=") ?? [];
  expect([signedIn.status, session]).toEqual([200, expect.stringMatching(/^tgco_/)]);
  const forms: Record<string, string>[] = [
    { authorization: `Bearer ${session}` },
    { "x-api-key": session },
    { cookie: `${name}=${session}` },
    { authorization: `Session ${session}`, "x-api-key": session },
  ];
  for (const headers of forms) {
    const asked = await fetch(at("http", "/v1/key"), { headers });
    expect([headers, asked.status]).toEqual([headers, 401]);
    const ran = await post(json, { authorization: "", ...headers });
    expect([headers, ran.status]).toEqual([headers, 401]);
  }
  const call = "/tollgate.accounts.v1.AccountsService/ListAccounts";
  const channel = createChannelTransport({ target: String(addresses.grpc) });
  const accounts = createClient(AccountsService, channel);
  for (const headers of forms.slice(0, 3)) {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: "{}" };
    for (const listener of ["connect", "admin"]) {
      const { status } = await fetch(at(listener, call), init);
      expect([listener, headers, status]).toEqual([listener, headers, listener === "admin" ? 404 : 401]);
    }
    await expect(accounts.listAccounts({}, { headers })).rejects.toThrow("[unauthenticated]");
  }
  await channel.close();
});

test("a flood of wrong keys is slowed down, and a right one from the same address is not", async () => {
  const statuses: number[] = [];
  for (let round = 0; round < 20; round++) {
    const wrong = Array.from({ length: 10 }, async (_, index) => {
      const response = await chat({}, { authorization: `Bearer tg-wrong${round}x${index}` });
      await response.arrayBuffer();
      return response.status;
    });
    const right = chat({});
    statuses.push(...(await Promise.all(wrong)));
    expect((await right).status).toBe(200);
  }
  const count = (status: number) => statuses.filter((one) => one === status).length;
  expect([count(401), count(429)]).toEqual([30, 170]);
}, 60_000);

test("behind a proxy that is trusted, clients are told apart by its word and not by theirs", async () => {
  const wrong = async (forwarded: string) => {
    const headers = { authorization: "Bearer tg-wrong", "x-tollgate-client-address": forwarded };
    const response = await chat({}, { ...headers, "x-forwarded-for": forwarded });
    await response.arrayBuffer();
    return response.status;
  };
  const flood = await Promise.all(Array.from({ length: 40 }, (_, index) => wrong(`198.51.100.${index}, 203.0.113.7`)));
  expect([401, 429].map((status) => flood.filter((one) => one === status).length)).toEqual([30, 10]);
  expect(await wrong("203.0.113.7, 203.0.113.8")).toBe(401);
  expect((await chat({}, { "x-forwarded-for": "203.0.113.7" })).status).toBe(200);
});

test.each(["grpc", "connect", "admin"])("rubbish on the %s address is cut off", async (name) => {
  const port = String(tollgate.addresses[name]);
  const rubbish = [
    Buffer.alloc(100_000, 0xff),
    Buffer.from(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${"\xff".repeat(500)}`, "latin1"),
  ];
  for (const bytes of rubbish) {
    expect(await exchange(bytes, port)).not.toContain(" 500 ");
  }
});

test("connections whose head never ends are closed", async () => {
  await Promise.all(loris.map(closed));
}, 40_000);
