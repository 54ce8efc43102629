import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { freePort } from "../../scripts/test-services/free-port.ts";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { runHere } from "../support/run-here.ts";
import { createSite, freePorts, runTollgate, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// Two processes of `serve` on one HTTP port, on a real PostgreSQL and a real Redis, with an engine that the test holds back.

const model = "held/model";
/** No answer of this test takes so long. */
const answerMs = 60_000;
const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const chunk = (content: string, finishReason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finishReason }], usage })}\n\n`;

let engine: Server;
let held: ServerResponse[];
let postgres: DatabaseServer;
let site: Site;
let config: { readonly listen: { readonly http: string }; readonly models: readonly object[] };
let one: Tollgate;
let other: Tollgate;

const start = async () => startTollgate(site, "serve", "--no-console", "--config", await site.configure(config));

beforeAll(async () => {
  postgres = await useServer();
  engine = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) {
      pieces.push(piece as Buffer);
    }
    if (request.method !== "POST") {
      response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    response.write(chunk("begun"));
    if (Buffer.concat(pieces).includes("Hold")) {
      held.push(response);
    } else {
      response.end(`${chunk(" and done", "stop")}data: [DONE]\n\n`);
    }
  }).listen(0, "127.0.0.1");
  await once(engine, "listening");
  site = await createSite({
    TOLLGATE_STORAGE_URL: await postgres.createDatabase(),
    TOLLGATE_RATE_LIMIT_URL: process.env.TOLLGATE_TEST_REDIS_URL,
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
    TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789-0123456789",
  });
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  const http = `127.0.0.1:${await freePort()}`;
  config = {
    listen: { ...freePorts.listen, http, reuse_port: true },
    models: [{ id: model, servers: [{ url, engine: "openai" }] }],
  } as typeof config;
  [one, other] = [await start(), await start()];
}, 90_000);

beforeEach(() => {
  held = [];
});

afterAll(async () => {
  await Promise.all([one, other].map((tollgate) => tollgate?.stop()));
  await site?.remove();
  engine.close().closeAllConnections();
  await postgres.stop();
}, 120_000);

async function customer(): Promise<{ readonly account: string; readonly key: string }> {
  const { id: account } = (await other.admin("accounts", "create", "--name", "customer")) as { id: string };
  const { key } = (await other.admin("keys", "create", account, "--rpm", "100000")) as { key: string };
  return { account, key };
}

/** Over a connection of its own: the kernel decides for each which process gets it. */
const ask = (key: string, content = "Hello", more: object = {}) =>
  fetch(`http://${config.listen.http}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, connection: "close" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }], ...more }),
    signal: AbortSignal.timeout(answerMs), // so that a hang is told where it is
  });

async function shows({ addresses }: Tollgate, metric: RegExp): Promise<boolean> {
  return metric.test(await (await fetch(`http://${addresses.admin}/metrics`)).text());
}

/** The request ids of an account's receipts, once there are so many: a process promises in its journal before it settles. */
async function receiptsOf(account: string, count: number): Promise<string[]> {
  let receipts: { readonly request_id: string; readonly output_tokens: number }[] = [];
  await eventually(`there are ${count} receipts`, async () => {
    receipts = (await other.admin("receipts", account)) as typeof receipts;
    return receipts.length >= count;
  });
  expect(new Set(receipts.map(({ output_tokens }) => output_tokens))).toEqual(new Set([1]));
  return receipts.map(({ request_id }) => request_id).toSorted();
}

const requestId = ({ headers }: Response) => String(headers.get("x-request-id"));

test("both answer on one port, and every answer has one receipt", async () => {
  expect([one.addresses.http, other.addresses.http]).toEqual([config.listen.http, config.listen.http]);
  const { account, key } = await customer();
  const answered: string[] = [];
  const answers = /^tollgate_http_responses_total\{.*\} [1-9]/m;
  await eventually("both have answered", async () => {
    const answer = await ask(key);
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    answered.push(requestId(answer));
    return (await shows(one, answers)) && (await shows(other, answers));
  });
  expect(await receiptsOf(account, answered.length)).toEqual(answered.toSorted());
  expect(await other.admin("reconcile")).toMatchObject({ ok: true, receipts: answered.length });
}, 120_000);

test("one is killed: the other serves the port, and who comes next finds what it held", async () => {
  const { account, key } = await customer();
  const streams: Response[] = [];
  const open = /^tollgate_http_streams_open [1-9]/m;
  await eventually("both have a stream", async () => {
    streams.push(await ask(key, "Hold", { stream: true }));
    return (await shows(one, open)) && (await shows(other, open));
  });
  await one.stop("SIGKILL");
  const after = await Promise.all(Array.from({ length: 8 }, () => ask(key)));
  expect(after.map(({ status }) => status)).toEqual(Array(8).fill(200));
  await Promise.all(after.map((answer) => answer.arrayBuffer()));
  for (const response of held) {
    response.end(`${chunk(" and done", "stop")}data: [DONE]\n\n`);
  }
  const ends = await Promise.allSettled(streams.map((stream) => stream.text()));
  const whole = streams.filter((_, at) => ends[at]?.status === "fulfilled").map(requestId);
  const cut = streams.filter((_, at) => ends[at]?.status === "rejected").map(requestId);
  expect([whole.length > 0, cut.length > 0]).toEqual([true, true]);
  one = await start();
  await eventually("nothing is held", async () => {
    const { held_usd } = (await other.admin("accounts", "show", account)) as { held_usd: string };
    return Number(held_usd) === 0;
  });
  const delivered = [...whole, ...after.map(requestId)];
  const charged = await receiptsOf(account, delivered.length);
  expect(charged.filter((id) => !cut.includes(id))).toEqual(delivered.toSorted());
  expect(new Set(charged).size).toBe(charged.length);
  expect(await other.admin("reconcile")).toMatchObject({ ok: true });
}, 120_000);

test("one drains: its streams end whole, and the other serves the port", async () => {
  const { key } = await customer();
  const streams: Response[] = [];
  const open = /^tollgate_http_streams_open [1-9]/m;
  await eventually("it has a stream", async () => {
    streams.push(await ask(key, "Hold", { stream: true }));
    return shows(one, open);
  });
  one.process.kill("SIGTERM");
  await eventually("it listens no more", async () => {
    const { status } = await fetch(`http://${one.addresses.admin}/readyz`);
    return status === 503;
  });
  for (const response of held) {
    response.end(`${chunk(" and done", "stop")}data: [DONE]\n\n`);
  }
  for (const stream of streams) {
    expect(await stream.text()).toMatch(/and done[\s\S]*\[DONE\]/);
  }
  expect(await one.ended).toBe(0);
  const after = await ask(key);
  expect([after.status, await after.text()]).toEqual([200, expect.stringContaining("and done")]);
}, 120_000);

test.each([
  [["TOLLGATE_STORAGE_URL"], "listen.reuse_port needs PostgreSQL"],
  [["TOLLGATE_RATE_LIMIT_URL"], "listen.reuse_port needs Valkey or Redis"],
  [["TOLLGATE_STORAGE_URL", "TOLLGATE_RATE_LIMIT_URL"], /PostgreSQL.*, and Valkey or Redis/],
])("without %j the start and the check say what a shared port needs", async (missing, message) => {
  const bare = { ...site, env: { ...site.env, ...Object.fromEntries(missing.map((name) => [name, undefined])) } };
  const file = await site.configure(config);
  const refused = { code: 1, stderr: expect.stringMatching(message) };
  await expect(runTollgate(bare, "serve", "--no-console", "--config", file)).rejects.toMatchObject(refused);
  expect((await runHere(["check", "--wide", "--config", file], bare.env)).output).toMatch(message);
});

test("a port that another program holds for itself is refused in words", async () => {
  const alone = createServer().listen(0, "127.0.0.1");
  await once(alone, "listening");
  const http = `127.0.0.1:${(alone.address() as AddressInfo).port}`;
  const file = await site.configure({ ...config, listen: { ...config.listen, http } }, "taken.yaml");
  const { stderr } = await runTollgate(site, "serve", "--no-console", "--config", file).catch((error) => error);
  expect(stderr).toContain(`Cannot listen on ${http}: another process already does.`);
  expect(stderr).toContain("Only processes of one user that all set listen.reuse_port share port");
  alone.close();
}, 60_000);
