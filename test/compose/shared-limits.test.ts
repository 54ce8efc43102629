import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { startRedis } from "../../scripts/test-services/redis.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// Two whole processes on one database and one Redis: what a key may run at once, and its tokens a minute, count on both.

let postgresql: DatabaseServer;
let redis: Awaited<ReturnType<typeof startRedis>>;
let simulator: Simulator;
let sites: Site[] = [];
const cores: Tollgate[] = [];
let account: string;

beforeAll(async () => {
  [postgresql, redis, simulator] = await Promise.all([
    useServer(),
    startRedis(),
    startSimulator({ models: [{ id: "m", contextLength: 8192 }], speed: 0 }),
  ]);
  const shared = {
    TOLLGATE_STORAGE_URL: await postgresql.createDatabase(),
    TOLLGATE_RATE_LIMIT_URL: redis.url,
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-a-test-0123456789",
    TOLLGATE_KEY_PEPPER: "pepper-of-a-test-0123456789-0123456789",
  };
  sites = await Promise.all([createSite(shared), createSite(shared)]);
  const models = [{ id: "m", context_length: 8192, servers: [{ url: simulator.url, engine: "vllm" }] }];
  for (const site of sites) {
    const config = await site.configure({ ...freePorts, rate_tiers: [{ rpm: 10_000 }], models });
    cores.push(await startTollgate(site, "serve", "--config", config));
  }
  ({ id: account } = (await admin("accounts", "create")) as { id: string });
  await admin("accounts", "top-up", account, "--usd", "50", "--ref", "payment");
}, 180_000);
afterAll(async () => {
  await Promise.all(cores.map((core) => core.stop()));
  await Promise.all(sites.map((site) => site.remove()));
  await Promise.all([simulator?.close(), redis?.stop(), postgresql?.stop()]);
}, 60_000);

async function admin(...args: string[]): Promise<unknown> {
  const [core] = cores;
  return await core?.admin(...args);
}

/** Moves into the past what processes have told of what runs on them, as if so many seconds had gone by. */
async function age(seconds: number): Promise<void> {
  const client = new Redis(redis.url);
  for (const name of await client.keys("tollgate:quota:*")) {
    for (const [field, value] of Object.entries(await client.hgetall(name))) {
      const [amount, time] = value.split(" ");
      if (field.startsWith(":")) {
        await client.hset(name, field, `${amount} ${Number(time) - seconds * 1_000_000}`);
      }
    }
  }
  client.disconnect();
}

async function newKey(...limits: string[]): Promise<string> {
  const { key } = (await admin("keys", "create", account, ...limits)) as { key: string };
  const headers = { authorization: `Bearer ${key}` };
  const know = () => Promise.all(cores.map(async ({ url }) => (await fetch(`${url}/test-auth`, { headers })).ok));
  await eventually("both processes know the key", async () => (await know()).every(Boolean));
  return key;
}

function ask(core: number, key: string, content: string, more: object = {}, path = "/v1/chat/completions") {
  return fetch(`${cores[core]?.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", max_tokens: 50, messages: [{ role: "user", content }], ...more }),
  });
}

/** An answer that never ends. */
const stall = "[[sim:stall=2]] [[sim:tokens=9]]";
const wish = (tokens: number) => `[[sim:tokens=${tokens}]]`;

test("a key's places are shared, a refusal says so, and each is free as soon as its request has ended", async () => {
  const key = await newKey("--in-flight", "2");
  const running = await Promise.all([0, 1].map((core) => ask(core, key, stall, { stream: true })));
  expect(running.map(({ status }) => status)).toEqual([200, 200]);
  for (const core of [0, 1]) {
    const refused = await ask(core, key, wish(5));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({
      error: { type: "rate_limit_error", message: expect.stringContaining("2 requests at once") },
    });
    const other = await ask(core, key, wish(5), {}, "/v1/messages");
    expect([other.status, await other.json()]).toMatchObject([429, { error: { type: "rate_limit_error" } }]);
  }
  await running[0]?.body?.cancel();
  await eventually("its place is free on the other core", async () => (await ask(1, key, wish(5))).status === 200);
  await running[1]?.body?.cancel();
  await eventually("all places are free", async () => {
    const both = await Promise.all([0, 1].map((core) => ask(core, key, wish(5))));
    await Promise.all(both.map((answer) => answer.text()));
    return both.every(({ status }) => status === 200);
  });
}, 60_000);

test("a key's tokens a minute are shared, told in headers, and settled by what was charged", async () => {
  const key = await newKey("--tpm", "400");
  const left: number[] = [];
  for (const core of [0, 1]) {
    const answered = await ask(core, key, wish(50));
    expect(answered.status).toBe(200);
    expect(answered.headers.get("x-ratelimit-limit-tokens")).toBe("400");
    expect(answered.headers.get("anthropic-ratelimit-tokens-limit")).toBe("400");
    left.push(Number(answered.headers.get("x-ratelimit-remaining-tokens")));
    await answered.text();
  }
  const [first = 0, second = 0] = left;
  expect(first).toBeLessThan(400);
  expect(second).toBeLessThan(first);
  const refused = await eventually("what ran is counted, and holds nothing any more", async () => {
    const answer = await ask(0, key, wish(50), { max_tokens: 390 });
    expect(answer.status).toBe(429);
    return Number(answer.headers.get("retry-after")) > 30 ? answer : void (await answer.text());
  });
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect(refused.headers.get("x-ratelimit-reset-tokens")).toMatch(/^\d+(\.\d+)?s$/);
  expect(await refused.json()).toMatchObject({
    error: { type: "rate_limit_error", message: expect.stringContaining("400 tokens per minute") },
  });
  const messages = await ask(1, key, wish(50), { max_tokens: 390 }, "/v1/messages");
  expect([messages.status, await messages.json()]).toMatchObject([429, { error: { type: "rate_limit_error" } }]);
  expect((await ask(1, key, wish(5), { max_tokens: 5 })).status).toBe(200);
}, 60_000);

test("a core that is killed takes no place with it", async () => {
  const key = await newKey("--in-flight", "1");
  const dying = await ask(1, key, stall, { stream: true });
  expect([dying.status, (await ask(0, key, wish(5))).status]).toEqual([200, 429]);
  await cores[1]?.stop("SIGKILL");
  await expect(dying.text()).rejects.toThrow();
  await age(15);
  await eventually("the place is free again", async () => (await ask(0, key, wish(5))).status === 200, 40);
}, 120_000);
