import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { models, type Service, startService } from "../support/service.ts";

// Keys over HTTP with a management key, in the shape that clients of an aggregator know.

let service: Service;
let operator: Client<typeof AccountsService>;
beforeAll(async () => {
  service = await startService();
  operator = createClient(AccountsService, service.operator);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function manage(maxKeys = 200) {
  const accountId = (await operator.createAccount({ maxKeys })).account?.id ?? "";
  await operator.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: accountId });
  const { key, secret } = await operator.createKey({ accountId, manages: true });
  return { accountId, id: key?.id ?? "", secret };
}

interface Shown {
  readonly hash: string;
  readonly usage: number;
}

async function send(secret: string, verb: string, path: string, body?: unknown) {
  const response = await fetch(service.url + path, {
    method: verb,
    headers: secret === "" ? {} : { authorization: `Bearer ${secret}` },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) as { data: Shown; key: string } };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test.each(["/v1", "/api/v1"])("below %s a key is made, read, changed, used and deleted", async (base) => {
  const { secret } = await manage();
  expect((await send(secret, "GET", `${base}/keys`)).json).toEqual({ data: [] });
  const asked = { name: "app", limit: 5, limit_reset: "monthly", expires_at: "2100-01-31T12:00:00Z" };
  const made = await send(secret, "POST", `${base}/keys`, asked);
  const { hash } = made.json.data;
  const data = {
    ...{ hash: expect.stringMatching(uuid), name: "app", label: expect.stringMatching(/^tg-.{4}….{4}$/) },
    ...{ disabled: false, limit: 5, limit_remaining: 5, limit_reset: "monthly", usage: 0 },
    ...{ created_at: expect.stringMatching(moment), updated_at: null, expires_at: "2100-01-31T12:00:00.000Z" },
  };
  expect(made).toMatchObject({ status: 201, json: { data, key: expect.stringMatching(/^tg-/) } });
  expect(Object.keys(made.json)).toEqual(["data", "key"]);
  expect(Object.keys(made.json.data)).toEqual(Object.keys(data));
  expect(made.json.key).not.toContain(hash);

  const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: made.json.key, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "[[sim:text=Hello]]" }];
  const answer = await openai.chat.completions.create({ model: models.plain, messages });
  const pico = (await service.receipt(answer._request_id))?.costPicoUsd ?? 0n;
  const spent = { ...data, usage: Number(formatUsd(pico)), limit_remaining: Number(formatUsd(5n * 10n ** 12n - pico)) };
  expect(pico).toBeGreaterThan(0n);
  expect((await send(secret, "GET", `${base}/keys`)).json).toEqual({ data: [spent] });
  const got = await send(secret, "GET", `${base}/keys/${hash}`);
  expect(got).toMatchObject({ status: 200, json: { data: spent } });
  expect(got.text).not.toContain(made.json.key);

  const changed = { ...spent, name: "renamed", disabled: true, updated_at: expect.stringMatching(moment) };
  const patch = (body: unknown) => send(secret, "PATCH", `${base}/keys/${hash}`, body);
  expect(await patch({ name: "renamed", disabled: true })).toMatchObject({ status: 200, json: { data: changed } });
  await expect(openai.models.list().withResponse()).resolves.toBeDefined(); // the list is public
  await expect(openai.get("/key")).rejects.toMatchObject({ status: 401 });
  expect((await patch({ disabled: false })).json.data).toMatchObject({ disabled: false, limit: 5 });
  await expect(openai.get("/key")).resolves.toBeDefined();
  expect((await patch({ limit: 7.5 })).json.data).toMatchObject({ limit: 7.5, limit_reset: "monthly" });
  expect((await patch({ limit_reset: "daily" })).json.data).toMatchObject({ limit: 7.5, limit_reset: "daily" });
  expect((await patch({ limit_reset: null })).json.data).toMatchObject({ limit: 7.5, limit_reset: null });
  const without = { limit: null, limit_remaining: null, limit_reset: null };
  expect((await patch({ limit: null })).json.data).toMatchObject({ ...without, name: "renamed" });
  expect((await patch({})).json.data).toMatchObject({ ...without, name: "renamed" });

  expect(await send(secret, "DELETE", `${base}/keys/${hash}`)).toMatchObject({ status: 200, text: '{"deleted":true}' });
  await expect(openai.get("/key")).rejects.toMatchObject({ status: 401 });
  for (const verb of ["GET", "DELETE"]) {
    expect((await send(secret, verb, `${base}/keys/${hash}`)).status).toBe(404);
  }
  expect((await patch({ disabled: false })).status).toBe(404);
  expect((await send(secret, "GET", `${base}/keys`)).json).toEqual({ data: [] });
});

test("a limit is exact to the last decimal, however it is written", async () => {
  const { accountId, secret } = await manage();
  const limits: readonly (readonly [string, bigint])[] = [
    ["9007.199254740991", 9_007_199_254_740_991n],
    ["9007.199254740989", 9_007_199_254_740_989n],
    ["0.000000000001", 1n],
    ["1e-12", 1n],
    ["5E2", 500n * 10n ** 12n],
    ["0.1", 10n ** 11n],
  ];
  for (const [text, pico] of limits) {
    const made = await send(secret, "POST", "/v1/keys", `{"name":"exact","limit":${text}}`);
    expect(made.status).toBe(201);
    expect(made.text).toContain(`"limit":${formatUsd(pico).replace(/\.?0+$/, "")},`);
    const { key } = await operator.getKey({ keyId: made.json.data.hash });
    expect(key).toMatchObject({ accountId, limits: { budgetPicoUsd: pico } });
  }
});

test("a wrong body is a 400 that names the field", async () => {
  const { secret } = await manage();
  const { hash } = (await send(secret, "POST", "/v1/keys", { name: "app" })).json.data;
  const wrong: readonly (readonly [Record<string, unknown> | string, string | undefined])[] = [
    ["{", undefined],
    ["[]", undefined],
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: 5 }, "name"],
    [{ name: "n".repeat(201) }, "name"],
    [{ name: "x", limit: "5" }, "limit"],
    [{ name: "x", limit: 0 }, "limit"],
    [{ name: "x", limit: -1 }, "limit"],
    [{ name: "x", limit: 10_000 }, "limit"],
    ['{"name":"x","limit":0.0000000000001}', "limit"],
    ['{"name":"x","limit":1e400}', "limit"],
    [{ name: "x", limit: 1, limit_reset: "yearly" }, "limit_reset"],
    [{ name: "x", limit_reset: "daily" }, "limit_reset"],
    [{ name: "x", expires_at: "tomorrow" }, "expires_at"],
    [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
  ];
  for (const [body, param] of wrong) {
    const refused = { status: 400, json: { error: { type: "invalid_request_error", ...(param && { param }) } } };
    expect({ body, ...(await send(secret, "POST", "/v1/keys", body)) }).toMatchObject({ body, ...refused });
  }
  for (const body of [
    { disabled: "yes" },
    { limit: 0 },
    { limit_reset: "daily" },
    { limit: null, limit_reset: "daily" },
  ]) {
    expect((await send(secret, "PATCH", `/v1/keys/${hash}`, body)).status).toBe(400);
  }
  expect((await send(secret, "GET", "/v1/keys?offset=-1")).status).toBe(400);
  expect((await send(secret, "GET", "/v1/keys")).json.data).toHaveLength(1);
});

test("without a key it is a 401, with an inference key a 403, whatever the body, and an unknown key is a 404", async () => {
  const { accountId, id, secret } = await manage();
  const inference = await operator.createKey({ accountId });
  const own = inference.key?.id ?? "";
  const elsewhere = (await operator.createKey({ accountId: (await manage()).accountId })).key?.id ?? "";
  const calls: readonly (readonly [string, string, unknown?])[] = [
    ["GET", "/v1/keys"],
    ["POST", "/v1/keys", { name: "x" }],
    ["POST", "/v1/keys", "no JSON"],
    ["POST", "/v1/keys", { name: "x".repeat(200_000) }],
    ["GET", `/v1/keys/${own}`],
    ["PATCH", `/v1/keys/${own}`, { disabled: true }],
    ["DELETE", `/v1/keys/${own}`],
  ];
  for (const [verb, path, body] of calls) {
    for (const wrong of ["", "tg-wrong"]) {
      expect(await send(wrong, verb, path, body)).toMatchObject({
        status: 401,
        json: { error: { code: "invalid_api_key" } },
      });
    }
    const refused = { status: 403, json: { error: { code: "permission_denied", type: "invalid_request_error" } } };
    expect(await send(inference.secret, verb, path, body)).toMatchObject(refused);
  }
  for (const hash of [elsewhere, id, "unknown", "%25", inference.secret]) {
    for (const [verb, body] of [["GET"], ["PATCH", { disabled: true }], ["DELETE"]] as const) {
      const missing = { status: 404, json: { error: { code: "key_not_found" } } };
      expect({ hash, ...(await send(secret, verb, `/v1/keys/${hash}`, body)) }).toMatchObject({ hash, ...missing });
    }
  }
  expect((await operator.getKey({ keyId: own })).key).toMatchObject({ disabled: false });
  expect((await send(secret, "PUT", `/v1/keys/${own}`, {})).status).toBe(405);
});

test("of two keys that race for the last place one is made, and the other is a 403 that says why", async () => {
  const { secret } = await manage(2);
  const race = await Promise.all([1, 2].map(() => send(secret, "POST", "/v1/keys", { name: "last" })));
  expect(race.map(({ status }) => status).toSorted()).toEqual([201, 403]);
  expect(race.find(({ status }) => status === 403)?.json).toMatchObject({ error: { code: "key_limit_reached" } });
  expect((await send(secret, "GET", "/v1/keys")).json.data).toHaveLength(1);
});

test("a list has a hundred keys, and the rest from an offset on", async () => {
  const { accountId, secret } = await manage();
  const names = Array.from({ length: 103 }, (_, at) => `key ${at}`);
  for (const name of names) {
    await operator.createKey({ accountId, name });
  }
  const list = async (query: string) => {
    const { json } = await send(secret, "GET", `/v1/keys${query}`);
    return (json.data as unknown as { readonly name: string }[]).map(({ name }) => name);
  };
  expect(await list("")).toEqual(names.slice(0, 100));
  expect(await list("?offset=100")).toEqual(names.slice(100));
  expect(await list("?offset=103")).toEqual([]);
});

test("more than 120 changes of an account in a minute are a 429 that says when", async () => {
  const { secret } = await manage();
  const { hash } = (await send(secret, "POST", "/v1/keys", { name: "app" })).json.data;
  const statuses: number[] = [];
  for (let change = 0; change < 120; change += 1) {
    statuses.push((await send(secret, "PATCH", `/v1/keys/${hash}`, {})).status);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(119);
  expect(statuses.at(-1)).toBe(429);
  expect((await send(secret, "GET", `/v1/keys/${hash}`)).status).toBe(200);
});

test("a management key reads its account as any key does", async () => {
  const { id, secret } = await manage();
  expect((await send(secret, "GET", "/test-auth")).json).toMatchObject({ key: { id } });
  expect((await send(secret, "GET", "/v1/credits")).json.data).toMatchObject({ total_credits: expect.any(Number) });
  expect((await send(secret, "GET", "/v1/usage")).json).toEqual({ data: [] });
});
