import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { eventually } from "../../support/eventually.ts";
import { runHere } from "../../support/run-here.ts";
import { createSite, freePorts, runTollgate, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

// Two processes behind one address, on a real PostgreSQL and a real Redis, with an engine that the test holds back.

const model = "held/model";
/** No answer of this test takes so long. */
const answerMs = 60_000;
const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const chunk = (content: string, finishReason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finishReason }], usage })}\n\n`;

let engine: Server;
let held: ServerResponse[];
let postgres: PostgresqlServer;
let site: Site;
let tollgate: Tollgate;
let config: object;

beforeAll(async () => {
  postgres = await startPostgresql();
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
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test",
    TOLLGATE_KEY_PEPPER: "pepper-of-the-test",
  });
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  config = { ...freePorts, models: [{ id: model, servers: [{ url, engine: "openai" }] }] };
  tollgate = await startTollgate(site, "serve", "--workers", "2", "--config", await site.configure(config));
}, 90_000);

beforeEach(() => {
  held = [];
});

afterAll(async () => {
  await tollgate?.stop();
  await site?.remove();
  engine.close().closeAllConnections();
  await postgres.stop();
}, 120_000);

async function customer(): Promise<string> {
  const { id } = (await tollgate.admin("accounts", "create", "--name", "customer")) as { id: string };
  return ((await tollgate.admin("keys", "create", id, "--rpm", "100000")) as { key: string }).key;
}

/** Over a connection of its own, so that the workers take turns. */
const ask = (key: string, content = "Hello", more: object = {}) =>
  fetch(`${tollgate.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, connection: "close" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }], ...more }),
    signal: AbortSignal.timeout(answerMs), // so that a hang is told where it is
  });

async function metrics(): Promise<string> {
  return (await fetch(`http://${tollgate.addresses.admin}/metrics`)).text();
}

const readyWorkers = async () => /^tollgate_workers_ready\{.*\} (\d)$/m.exec(await metrics())?.[1];

test("workers take turns behind one address, and one page shows the metrics of all", async () => {
  const key = await customer();
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(key)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  const shown = async (name: string) => {
    const page = await metrics();
    return ["1", "2"].every((worker) => new RegExp(`^${name}\\{.*worker="${worker}"\\} [1-9]`, "m").test(page));
  };
  await eventually("both workers' answers are counted", () => shown("tollgate_http_responses_total"));
  expect((await metrics()).match(/^# TYPE tollgate_http_responses_total /gm)).toHaveLength(1);
  expect(await readyWorkers()).toBe("2");
  expect(await tollgate.admin("reconcile")).toMatchObject({ ok: true, receipts: 8 });
}, 120_000);

test("a worker that is killed is replaced, the other goes on, and its money comes back", async () => {
  const key = await customer();
  const streams: Response[] = [];
  const open = async (worker: string) =>
    new RegExp(`^tollgate_http_streams_open\\{worker="${worker}"\\} [1-9]`, "m").test(await metrics());
  await eventually("each worker has a stream", async () => {
    streams.push(await ask(key, "Hold", { stream: true }));
    return (await open("1")) && (await open("2"));
  });
  const ready = () => tollgate.log.filter(({ msg, worker }) => msg === "worker ready" && worker === "1");
  process.kill(Number(ready()[0]?.pid), "SIGKILL");
  await eventually("the worker has ended", () =>
    tollgate.log.some(({ msg, ended }) => msg === "worker ended" && ended === "SIGKILL"),
  );
  expect((await ask(key)).status).toBe(200);
  expect((await fetch(`http://${tollgate.addresses.admin}/readyz`)).status).toBe(200);
  await eventually("another takes its place", () => ready().length === 2);
  for (const response of held) {
    response.end(`${chunk(" and done", "stop")}data: [DONE]\n\n`);
  }
  const texts = await Promise.allSettled(streams.map((stream) => stream.text()));
  expect(new Set(texts.map(({ status }) => status))).toEqual(new Set(["fulfilled", "rejected"]));
  const heldUsd = async () => {
    const accounts = (await tollgate.admin("accounts", "list")) as { held_usd: string }[];
    return accounts.map((account) => account.held_usd);
  };
  await eventually("nothing is held", async () => (await heldUsd()).every((usd) => Number(usd) === 0));
  expect(await tollgate.admin("reconcile")).toMatchObject({ ok: true });
}, 120_000);

test("SIGHUP reaches every worker", async () => {
  const key = await customer();
  const [one] = (config as { models: object[] }).models;
  await site.configure({ ...config, models: [one, { ...one, id: "second/model" }] });
  tollgate.process.kill("SIGHUP");
  const reloads = () => tollgate.log.filter(({ msg }) => msg === "configuration reloaded");
  await eventually("both have reloaded", () => reloads().length === 2);
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(key, "Hello", { model: "second/model" })));
  expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
}, 120_000);

test("a server is drained and resumed by every worker, and by one that takes a place later", async () => {
  const [{ id }] = (await tollgate.admin("servers", "list")) as [{ id: string }];
  const draining = async () => {
    const lines = (await metrics()).split("\n").filter((line) => line.startsWith("tollgate_server_state{"));
    return lines.filter((line) => line.includes(`"${id}"`) && /state="draining".*\} 1$/.test(line)).length;
  };
  await tollgate.admin("servers", "drain", id);
  await eventually("both workers drain it", async () => (await draining()) === 2);
  const ready = () => tollgate.log.filter(({ msg, worker }) => msg === "worker ready" && worker === "2");
  const before = ready();
  process.kill(Number(before.at(-1)?.pid), "SIGTERM");
  await eventually("another takes its place", () => ready().length > before.length);
  await eventually("both workers drain it", async () => (await draining()) === 2);
  await tollgate.admin("servers", "resume", id);
  await eventually("both workers resume it", async () => (await draining()) === 0);
}, 120_000);

test.each([
  [["TOLLGATE_STORAGE_URL"], "--workers 2 needs PostgreSQL"],
  [["TOLLGATE_RATE_LIMIT_URL"], "--workers 2 needs Valkey or Redis"],
  [["TOLLGATE_STORAGE_URL", "TOLLGATE_RATE_LIMIT_URL"], /PostgreSQL.*, and Valkey or Redis/],
])("without %j the start says what is needed", async (missing, message) => {
  const bare = { ...site, env: { ...site.env, ...Object.fromEntries(missing.map((name) => [name, undefined])) } };
  const args = ["serve", "--workers", "2", "--config", `${site.folder}/tollgate.yaml`];
  await expect(runTollgate(bare, ...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
});

test.each([
  [["serve", "--workers", "2"], "--workers needs --config"],
  [["serve", "--workers", "0"], "It must be a whole number above 0"],
])("%j is refused", async (args, message) => {
  expect(await runHere(args, site.env)).toMatchObject({ code: 1, notes: expect.stringContaining(message) });
});

test("a worker that cannot start ends the start with its reason", async () => {
  const [taken] = [String(tollgate.addresses.http)];
  const file = await site.configure({ ...config, listen: { ...freePorts.listen, http: taken } }, "taken.yaml");
  await expect(runTollgate(site, "serve", "--workers", "2", "--config", file)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Cannot listen on ${taken}: another process already does`),
  });
}, 120_000);

// The last test: it ends the program.
test("SIGTERM: unready at once and new requests refused, while streams on every worker finish", async () => {
  const key = await customer();
  const streams = await Promise.all([ask(key, "Hold", { stream: true }), ask(key, "Hold", { stream: true })]);
  await eventually("both streams run", () => held.length === 2);
  tollgate.process.kill("SIGTERM");
  const readiness = async () => (await fetch(`http://${tollgate.addresses.admin}/readyz`)).status;
  await eventually("it is unready", async () => (await readiness()) === 503);
  await eventually("new requests are refused", () =>
    ask(key).then(
      async (response) => response.arrayBuffer().then(() => false),
      () => true,
    ),
  );
  for (const response of held) {
    response.end(`${chunk(" and done", "stop")}data: [DONE]\n\n`);
  }
  for (const stream of streams) {
    expect(await stream.text()).toMatch(/and done[\s\S]*\[DONE\]/);
  }
  expect(await tollgate.stop()).toBe(0);
}, 120_000);
