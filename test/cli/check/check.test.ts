import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { type DatabaseServer, useServer } from "../../../scripts/test-services/postgres-server.ts";
import { startRedis } from "../../../scripts/test-services/redis.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { json, scriptedServer } from "../../fleet/engines/scripted-server.ts";
import { runHere } from "../../support/run-here.ts";

let folder: string;
let simulator: Simulator;
let postgresql: DatabaseServer;
let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-check-"));
  simulator = await startSimulator({ models: ["writer", { id: "embedder", kind: "embedding" }], speed: 0 });
  [postgresql, redis] = await Promise.all([useServer(), startRedis()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([simulator.close(), postgresql.stop(), redis.stop()]);
  await rm(folder, { recursive: true });
});

const free = { http: "127.0.0.1:0", grpc: "127.0.0.1:0", connect: "127.0.0.1:0", admin: "127.0.0.1:0" };
const secrets = {
  TOLLGATE_OPERATOR_TOKEN: "a token that is long enough for anybody",
  TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789-0123456789",
};

interface Finding {
  readonly part: string;
  readonly status: string;
  readonly message: string;
}

/** Checks a configuration; JSON is YAML. */
async function check(config: object, environment: Record<string, string> = {}) {
  const file = join(folder, "tollgate.yaml");
  await writeFile(file, JSON.stringify({ listen: free, ...config }));
  const data = { TOLLGATE_DATA_DIR: join(folder, "data") };
  const { code, output, notes } = await runHere(["check", "--config", file, "--json"], { ...data, ...environment });
  const findings = JSON.parse(output) as Finding[];
  const of = (part: string) => findings.find((finding) => finding.part.startsWith(part));
  return { code, notes, findings, of };
}

const served = (facts: object, model: object = {}) => ({
  models: [{ id: "writer", servers: [{ url: simulator.url, ...facts }], ...model }],
});

test("a configuration whose parts all answer is fine, and nothing is changed", async () => {
  const config = { ...served({}), rate_limits: { url: redis.url } };
  const environment = { ...secrets, TOLLGATE_STORAGE_URL: await postgresql.createDatabase() };
  const { code, notes, findings, of } = await check(config, environment);
  expect({ code, notes }).toEqual({ code: 0, notes: "" });
  expect(findings.filter((finding) => finding.status !== "ok")).toEqual([]);
  expect(of("storage")?.message).toMatch(/^PostgreSQL at .*, version \d+/);
  expect(of("rate limits")?.message).toMatch(/runs scripts$/);
  expect(of("server")).toMatchObject({
    message: "vllm 0.28.0 is healthy and serves writer",
    engine: "vllm",
    version: "0.28.0",
    facts: expect.arrayContaining([{ name: "counts", value: "as it goes" }]),
    remarks: [],
    start: expect.stringMatching(/^vllm serve writer/),
  });
  expect(await readdir(folder)).toEqual(["tollgate.yaml"]);
});

test("a price that falls while nobody asks is named, one that waits for traffic is not", async () => {
  const moving = { input: "0.20", floor: 0.5 };
  expect((await check(served({}, { price: moving }))).of("price")).toBeUndefined();
  expect((await check(served({}, { price: { ...moving, falls_when_idle: true } }))).of("price")).toMatchObject({
    part: "price writer",
    status: "warning",
    message: expect.stringContaining("falls to 0.5 times its base while nobody asks"),
  });
});

test("an embedded service needs nothing", async () => {
  const { code, of } = await check({});
  expect(code).toBe(0);
  expect(of("storage")).toMatchObject({ status: "ok", message: expect.stringContaining("tollgate.db will be made") });
  for (const secret of ["operator token", "key pepper"]) {
    expect(of(secret)).toMatchObject({ status: "ok", message: "will be made on first start" });
  }
  expect(of("models")?.status).toBe("warning");
});

test("secrets that can be guessed and an address that cannot be read are named", async () => {
  const storage = { url: "postgresql://u:p@ss:w/rd@127.0.0.1/x" };
  const { code, of } = await check(
    { storage },
    { TOLLGATE_OPERATOR_TOKEN: "replace-me", TOLLGATE_KEY_PEPPER: "1:short" },
  );
  expect(code).toBe(1);
  expect(of("operator token")).toMatchObject({ status: "wrong", message: expect.stringContaining("openssl rand") });
  expect(of("key pepper")).toMatchObject({ status: "wrong", message: expect.stringContaining("openssl rand") });
  expect(of("storage")).toMatchObject({ status: "wrong", message: expect.stringContaining("percent-encoded") });
});

test("a logo that cannot be shown and templates that would never be used are named before the start", async () => {
  const logo = join(folder, "logo.svg");
  await writeFile(logo, "<svg/>");
  await writeFile(join(folder, "low_balance.txt"), "Low\n\nIt is low.");
  const mail = { from: "a@example.com", smtp: { url: "smtp://127.0.0.1:1" } };
  const fine = await check({ site: { logo } });
  expect(fine.of("site.logo")).toMatchObject({ status: "ok" });
  const none = join(folder, "none");
  const wrong = await check({ site: { logo: `${none}.png` }, mail: { ...mail, templates: none } });
  expect(wrong.of("site.logo")).toMatchObject({
    status: "wrong",
    message: `site.logo: ${none}.png cannot be read: ENOENT`,
  });
  expect(wrong.of("mail")).toMatchObject({
    status: "wrong",
    message: expect.stringContaining("mail.templates: ENOENT"),
  });
  const misnamed = await check({ mail: { ...mail, templates: folder } });
  expect(misnamed.of("mail")?.message).toContain("low_balance.txt: is no template; there are layout.html,");
  await Promise.all([rm(logo), rm(join(folder, "low_balance.txt"))]);
});

test("what cannot be reached is named with a way to mend it", async () => {
  const port = await freePort();
  const config = {
    storage: { url: `postgresql://u:secret@127.0.0.1:${port}/x` },
    rate_limits: { url: `redis://127.0.0.1:${port}` },
    models: [{ id: "writer", servers: [{ url: `http://127.0.0.1:${port}` }] }],
  };
  const { code, notes, findings, of } = await check(config, secrets);
  expect({ code, notes }).toEqual({ code: 1, notes: `tollgate: 3 of ${findings.length} parts have to be mended` });
  for (const part of ["storage", "rate limits", "server"]) {
    expect(of(part)).toMatchObject({
      status: "wrong",
      message: expect.stringMatching(/ECONNREFUSED.*: check that it runs/),
    });
  }
  expect(of("configuration")).toMatchObject({ status: "warning", message: expect.stringContaining("password") });
  expect(JSON.stringify(findings)).not.toContain("secret");
});

test.each([
  [{ model: "reader" }, {}, "does not serve reader, only writer, embedder: set model: of this server to one of these"],
  [{}, { context_length: 100_000 }, "takes 32768 tokens, fewer than context_length 100000"],
  [{ model: "embedder" }, { kind: "embedding", dimensions: 768 }, "answers vectors of 1024 dimensions, not 768"],
])("a server that serves something else (%j, %j) is told", async (server, model, message) => {
  const { code, of } = await check(served(server, model));
  expect(code).toBe(1);
  expect(of("server")?.message).toContain(message);
});

test("everything that is risky about a server is told, with the command that starts it properly", async () => {
  const risky = await startSimulator({ models: ["writer"], speed: 0, setup: { toolCalls: false, cacheReport: false } });
  const config = { models: [{ id: "writer", servers: [{ url: risky.url }] }] };
  const { code, of } = await check(config);
  expect(code).toBe(0);
  expect(of("server")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("--enable-prompt-tokens-details"),
    remarks: [
      { status: "warning", message: expect.stringContaining("--enable-prompt-tokens-details") },
      { status: "warning", message: expect.stringContaining("--enable-auto-tool-choice") },
    ],
  });
  const { output } = await runHere(["check", "--config", join(folder, "tollgate.yaml")], {});
  expect(output).toMatch(/^server http.* warning +does not tell/m);
  const details = output.slice(output.indexOf("\n\n"));
  expect(details).toContain(`server ${risky.url} (writer): vllm 0.28.0\n  KV cache tokens `);
  expect(details).toContain("warning: refuses tools");
  expect(details).toContain("start it with\n    vllm serve writer \\\n");
  await risky.close();
});

test("an embedding server that cuts long inputs, or takes none, is wrong", async () => {
  const model = { id: "embedder", kind: "embedding", contextLength: 512 } as const;
  const embedder = await startSimulator({ models: [model], speed: 0 });
  const config = {
    models: [{ id: "embedder", kind: "embedding", context_length: 512, servers: [{ url: embedder.url }] }],
  };
  expect((await check(config)).of("server")?.status).toBe("ok");
  embedder.faults.add({ truncate: true });
  const { code, of } = await check(config);
  expect(code).toBe(1);
  expect(of("server")?.message).toBe("cuts long inputs and says nothing: it read 512 tokens of 576 words");
  await embedder.close();
});

test("an embedding server that nobody can ask for a count is told to cut perhaps, and to cut what fits", async () => {
  const model = { id: "embedder", kind: "embedding", contextLength: 512 } as const;
  const embedder = await startSimulator({ models: [model], dialect: "openai", speed: 0 });
  embedder.faults.add({ truncate: "counted" });
  const inspect = async (context_length: number) => {
    const servers = [{ url: embedder.url, engine: "openai" }];
    return check({ models: [{ id: "embedder", kind: "embedding", context_length, servers }] });
  };
  const risky = await inspect(512);
  expect(risky.code).toBe(0);
  expect(risky.of("server")?.message).toContain("takes inputs longer than context_length 512, perhaps cut");
  const short = await inspect(2048);
  expect(short.code).toBe(1);
  expect(short.of("server")?.message).toContain("cuts inputs that context_length 2048 allows");
  await embedder.close();
});

test("a server that does not answer is told how to be started", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { of } = await check({ models: [{ id: "writer", servers: [{ url, engine: "llama.cpp", capacity: 2 }] }] });
  expect(of("server")).toMatchObject({ status: "wrong", version: null, start: expect.stringContaining("-np 2") });
});

test("a server that demands an API key gets it from a file", async () => {
  const guarded = await startSimulator({ models: ["writer"], speed: 0, apiKey: "open sesame" });
  const file = join(folder, "key");
  const checkWith = (more: object) => check({ models: [{ id: "writer", servers: [{ url: guarded.url, ...more }] }] });
  await writeFile(file, "open sesame\n");
  expect((await checkWith({ api_key_file: file })).of("server")).toMatchObject({ status: "ok", remarks: [] });
  expect((await checkWith({})).of("server")).toMatchObject({
    status: "wrong",
    message: expect.stringMatching(/answered 401.*: set api_key_file: of this server$/),
  });
  await rm(file);
  expect((await checkWith({ api_key_file: file })).of("server")).toMatchObject({
    status: "wrong",
    message: expect.stringContaining("the API key of http"),
  });
  await guarded.close();
});

test("a taken port is a warning: a running service may have it", async () => {
  const port = await freePort();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
  const { code, of } = await check({ listen: { ...free, http: `127.0.0.1:${port}` } });
  await new Promise((resolve) => taken.close(resolve));
  expect(code).toBe(0);
  expect(of("listen.http")).toMatchObject({ status: "warning", message: expect.stringContaining("is taken") });
});

test("a database that is none is refused", async () => {
  const path = join(folder, "not.db");
  await writeFile(path, "this is a text, and a long enough one to be looked at as a database header".repeat(10));
  const { code, of } = await check({ storage: { url: `sqlite:${path}` } });
  await rm(path);
  expect(code).toBe(1);
  expect(of("storage")).toMatchObject({ status: "wrong", message: expect.stringContaining("not a database") });
});

test.each([
  ["none", 200],
  ["a failure", 500],
])("a server of a model from a folder that lists %s is asked all the same", async (_, status) => {
  const chunks = [
    { choices: [{ index: 0, delta: { content: "no" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 90, completion_tokens: 1 } },
  ];
  const stream = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  await using server = await scriptedServer({
    "/health": (__, response) => json(response, { status: "ok" }),
    "/v1/models": (__, response) => json(response, status === 200 ? { data: [] } : { detail: "no" }, status),
    "/v1/chat/completions": (__, response) => void response.writeHead(200).end(stream),
  });
  const models = [{ id: "/models/mine", servers: [{ url: server.url, engine: "openai" }] }];
  const { code, of } = await check({ models });
  expect(code).toBe(0);
  expect(of("server")).toMatchObject({ status: "warning", message: expect.stringContaining("lists no models") });
});
