import { DatabaseSync } from "node:sqlite";
import Anthropic from "@anthropic-ai/sdk";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { formatUsd } from "#lib/money/money.ts";
import { enterArchivedDay } from "../../support/archived-receipt.ts";
import { eventually } from "../../support/eventually.ts";
import { models } from "../../support/service.ts";
import { startView, type View } from "./view.ts";

let view: View;
beforeAll(async () => {
  view = await startView();
});
afterAll(async () => {
  await view[Symbol.asyncDispose]();
});

test("an answer that failed midway has its cost and the reason why, once that is recorded", async () => {
  const openai = new OpenAI({ baseURL: `${view.service.url}/v1`, apiKey: view.service.key, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "[[sim:cut=5]] Hello" }];
  const failed = await openai.chat.completions.create({ model: models.plain, messages }).catch((error) => error);
  expect(failed.status).toBe(502);
  const data = await eventually("the reason", async () => {
    const { json } = await view.get(`/v1/generation?id=${failed.requestID}`);
    return (json.data as { error?: object } | undefined)?.error && json.data;
  });
  expect(data).toMatchObject({
    ...{ id: failed.requestID, finish_reason: "error", total_cost: expect.any(Number) },
    error: { reason: "ENGINE_FAILED", status: 502, message: expect.stringMatching(/inference server failed/) },
  });
});

/** An exact amount in USD as text, without trailing zeros. */
const decimal = (pico: bigint) => formatUsd(pico).replace(/\.?0+$/, "");

/** A method of an SDK that asks for any path. */
type Ask = (path: string) => Promise<{ readonly data: never }>;

async function ask(key: string) {
  const openai = new OpenAI({ baseURL: `${view.service.url}/api/v1`, apiKey: key, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "[[sim:text=Hello]]" }];
  return openai.chat.completions.create({ model: models.plain, messages });
}

test("a key, its account's money, an answer and the usage tell the same cost", async () => {
  const accountId = (await view.operator.createAccount({})).account?.id ?? "";
  const { balancePicoUsd } = await view.operator.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: "view" });
  const budget = { budgetPicoUsd: 10n ** 12n, budgetPeriod: BudgetPeriod.MONTH };
  const limits = {
    models: [models.plain],
    ...budget,
    tokensPerMinute: 100_000,
    maxInFlight: 4,
    serviceClass: ServiceClass.FLEX,
  };
  const { key, secret } = await view.operator.createKey({ accountId, name: "laptop", limits });
  const answer = await ask(secret);
  const receipt = await view.service.receipt(answer._request_id);
  const pico = receipt?.costPicoUsd ?? 0n;
  const cost = Number(formatUsd(pico));

  for (const path of ["/v1/key", "/api/v1/key"]) {
    expect((await view.get(path, secret)).json.data).toEqual({
      ...{ label: "laptop", usage: cost, limit: 1, limit_remaining: Number(formatUsd(10n ** 12n - pico)) },
      ...{ limit_reset: "monthly", is_free_tier: false, expires_at: null, models: [models.plain], frozen: false },
      rate_limit: { requests: expect.any(Number), interval: "60s" },
      ...{ tpm: 100_000, in_flight: 4, class: "flex" },
    });
  }
  const { keys } = await view.operator.listKeys({ accountId });
  expect(keys).toMatchObject([
    { budgetSpentPicoUsd: pico, budgetLeftPicoUsd: 10n ** 12n - pico, limits: { maxInFlight: 4 } },
  ]);
  expect((await view.get("/test-auth", secret)).json).toMatchObject({
    limits: {
      ...{ usd: "1", per: "month", usd_spent: decimal(pico), usd_left: decimal(10n ** 12n - pico) },
      ...{
        resets_at: expect.stringMatching(/-01T00:00:00\.000Z$/),
        models: [models.plain],
        tpm: 100_000,
        in_flight: 4,
        class: "flex",
      },
    },
  });
  const total = Number(formatUsd(balancePicoUsd));
  expect((await view.get("/v1/credits", secret)).json.data).toEqual({
    total_credits: total,
    total_usage: cost,
    frozen: false,
  });

  const generation = {
    ...{ id: answer._request_id, model: models.plain, total_cost: cost, streamed: false, cancelled: false },
    ...{ tokens_prompt: answer.usage?.prompt_tokens, tokens_completion: answer.usage?.completion_tokens },
    ...{ finish_reason: "stop", latency: expect.any(Number), generation_time: expect.any(Number) },
  };
  for (const id of [answer._request_id, answer.id]) {
    expect((await view.get(`/v1/generation?id=${id}`, secret)).json.data).toMatchObject(generation);
  }
  const another = await view.service.anotherKey();
  expect((await view.get(`/v1/generation?id=${answer.id}`, another)).status).toBe(404);
  expect((await view.get("/v1/generation", secret)).status).toBe(400);

  const sums = { requests: 1, input_tokens: answer.usage?.prompt_tokens, cost_usd: formatUsd(pico) };
  const { json } = await view.get("/v1/usage?by=key,model", secret);
  expect(json.data).toEqual([expect.objectContaining({ ...sums, key_id: key?.id, model: models.plain })]);
  expect((await view.get("/v1/usage?to=2020-01-01&from=2019-01-01", secret)).json.data).toEqual([]);
  for (const wrong of ["by=colour", "by=constructor", "from=yesterday", "to=2026-02-30"]) {
    expect(await view.get(`/v1/usage?${wrong}`, secret)).toMatchObject({
      status: 400,
      json: { error: { param: wrong.startsWith("by=") ? "by[0]" : wrong.slice(0, wrong.indexOf("=")) } },
    });
  }

  await view.operator.freezeAccount({ accountId, reason: "unpaid" });
  expect((await view.get("/v1/key", secret)).json.data).toMatchObject({ frozen: true });
  expect((await view.get("/v1/credits", secret)).json.data).toMatchObject({ frozen: true });
});

test("what came in is the same while requests are charged", async () => {
  const accountId = (await view.operator.createAccount({})).account?.id ?? "";
  await view.operator.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: "charged meanwhile" });
  const { secret } = await view.operator.createKey({ accountId });
  const credits = async () => (await view.get("/v1/credits", secret)).json.data as { total_credits: number };
  const before = await credits();
  let isOver = false;
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      await ask(secret);
    }
  });
  const told = new Set<number>();
  for (let times = 0; times < 100; times++) {
    told.add((await credits()).total_credits);
  }
  isOver = true;
  await Promise.all(load);
  expect([...told]).toEqual([before.total_credits]);
});

test("usage of thousands of rows is answered, and of more than 5,000 refused by name", async () => {
  const accountId = (await view.operator.createAccount({})).account?.id ?? "";
  const { secret } = await view.operator.createKey({ accountId });
  const database = new DatabaseSync(view.service.database);
  const insert = (models: number) =>
    database
      .prepare(
        `with recursive n(at) as (select 1 union all select at + 1 from n where at < ?)
         insert or ignore into usage_rollup
           (account_id, span, slot, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall)
         select ?, 'day', 18300, '', 'm' || at, 1, 1, 1, 0, 1, 0 from n`,
      )
      .run(models, accountId);
  // The service's own transactions need this thread to go on: who waited for them here would wait for ever.
  const fill = (models: number) =>
    eventually("the database is free", () => {
      try {
        return insert(models);
      } catch (error) {
        if (!String(error).includes("locked")) {
          throw error;
        }
        return undefined;
      }
    });
  await fill(5000);
  expect((await view.get("/v1/usage?from=2020-01-01&by=model", secret)).json.data).toHaveLength(5000);
  await fill(5001);
  database.close();
  expect(await view.get("/v1/usage?from=2020-01-01&by=model", secret)).toMatchObject({
    status: 400,
    json: { error: { type: "invalid_request_error", param: "by", message: expect.stringContaining("5000 rows") } },
  });
  expect((await view.get("/v1/usage?from=2020-01-01&by=day", secret)).json.data).toMatchObject([{ requests: 5001 }]);
});

test("a key without name and limits says so, and a wrong key is refused", async () => {
  const { json } = await view.get("/v1/key");
  const none = { limit: null, limit_remaining: null, limit_reset: null, expires_at: null, models: [] };
  expect(json.data).toMatchObject({ ...none, label: expect.stringMatching(/^tg-.{4}….{4}$/) });
  for (const path of ["/v1/key", "/v1/credits", "/v1/generation?id=x", "/v1/usage"]) {
    expect((await view.get(path, "wrong")).status).toBe(401);
  }
});

test("both SDKs read the customer's endpoints, with the credential and at the address that they have anyway", async () => {
  const openai = new OpenAI({ baseURL: `${view.service.url}/v1`, apiKey: view.service.key, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: view.service.url, apiKey: view.service.key, maxRetries: 0 });
  const { request_id: id } = await openai.chat.completions
    .create({ model: models.plain, messages: [{ role: "user", content: "[[sim:text=Hello]]" }] })
    .withResponse();
  const { requestId: archived, day } = enterArchivedDay(view.service.database);
  const asked = createClient(MeteringService, view.service.operator).getReceipt({ requestId: archived });
  expect(await asked.then(() => undefined, readDetail)).toMatchObject({ reason: Reason.RECEIPT_ARCHIVED });
  expect(await view.get(`/v1/generation?id=${archived}`)).toMatchObject({
    status: 410,
    json: {
      error: {
        ...{ type: "invalid_request_error", param: "id", code: "generation_archived" },
        message: expect.stringContaining(`The receipts of ${day} left the books on `),
      },
    },
  });
  const clients: Ask[] = [(path) => openai.get(path), (path) => anthropic.get(`/v1${path}`)];
  for (const read of clients) {
    expect((await read("/key")).data).toMatchObject({ limit: null, tpm: null, in_flight: null, class: null });
    expect((await read("/credits")).data).toMatchObject({ total_credits: expect.any(Number), frozen: false });
    expect((await read(`/generation?id=${id}`)).data).toMatchObject({ id, total_cost: expect.any(Number) });
    expect((await read("/usage?by=model")).data).toEqual([expect.objectContaining({ model: models.plain })]);
    await expect(read(`/generation?id=${newRequestId(systemRandom)}`)).rejects.toMatchObject({ status: 404 });
    // An id of the client's own may be of any day on which its account used something.
    for (const lost of [archived, "my-own-id"]) {
      await expect(read(`/generation?id=${lost}`)).rejects.toMatchObject({ status: 410 });
    }
    await expect(read("/usage?by=colour")).rejects.toMatchObject({ status: 400 });
  }
});

test("which server answered is told to operators alone: its id is its address", async () => {
  const { _request_id: id } = await ask(view.service.key);
  const requestId = id ?? "";
  await view.service.receipt(requestId);
  const read = async (by: Client<typeof MeteringService>, options = {}) => {
    const { receipt } = await by.getReceipt({ requestId }, options);
    const { receipts } = await by.listReceipts({ pageSize: 1 }, options);
    const { requests } = await by.listRequests({ requestId }, options);
    return [receipt, ...receipts, ...requests].map((told) => told?.server);
  };
  const told = await read(createClient(MeteringService, view.service.operator));
  expect(told).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^127\.0\.0\.1:/)));
  const headers = { authorization: `Bearer ${view.service.key}` };
  expect(await read(createClient(MeteringService, view.service.transport), { headers })).toEqual(["", "", ""]);
});
