import Anthropic from "@anthropic-ai/sdk";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BudgetPeriod, type KeyLimitsSchema } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { eventually } from "../support/eventually.ts";
import { models, type Service, startService } from "../support/service.ts";

// What a customer's clients see of limits, over the real wire.

let service: Service;
let operator: Client<typeof AccountsService>;
let accountId: string;
beforeAll(async () => {
  service = await startService();
  operator = createClient(AccountsService, service.operator);
  accountId = (await operator.createAccount({})).account?.id ?? "";
  await operator.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: "limits" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** Clients of a new key with limits. */
async function limited(limits: MessageInitShape<typeof KeyLimitsSchema>) {
  const { key, secret } = await operator.createKey({ accountId, limits });
  return {
    keyId: key?.id ?? "",
    secret,
    openai: new OpenAI({ baseURL: `${service.url}/v1`, apiKey: secret, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: service.url, apiKey: secret, maxRetries: 0 }),
  };
}

const messages = [{ role: "user" as const, content: "[[sim:text=Hello]]" }];

test("a key that may use one model sees and uses that one alone", async () => {
  const { keyId, openai, anthropic } = await limited({ models: [models.plain] });
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual([models.plain]);
  expect((await anthropic.models.list()).data.map(({ id }) => id)).toEqual([models.plain]);
  expect(await openai.models.retrieve(models.plain)).toMatchObject({ id: models.plain });
  const allowed = await openai.chat.completions.create({ model: models.plain, messages });
  expect(allowed.choices[0]?.message.content).toBe("Hello");

  const refused = { status: 404, code: "model_not_found" };
  await expect(openai.models.retrieve(models.on)).rejects.toMatchObject(refused);
  await expect(openai.chat.completions.create({ model: models.on, messages })).rejects.toMatchObject(refused);
  await expect(openai.completions.create({ model: models.on, prompt: "x" })).rejects.toMatchObject(refused);
  await expect(openai.embeddings.create({ model: models.embedder, input: "x" })).rejects.toMatchObject(refused);
  const wanted = { model: models.on, messages, max_tokens: 5 };
  await expect(anthropic.messages.create(wanted)).rejects.toMatchObject({ status: 404, type: "not_found_error" });
  await expect(anthropic.messages.countTokens(wanted)).rejects.toMatchObject({ status: 404 });

  await operator.updateKey({ keyId, updateMask: { paths: ["limits.models"] } });
  expect((await openai.models.list()).data.length).toBeGreaterThan(1);
  expect((await anthropic.messages.create(wanted)).usage.output_tokens).toBeGreaterThan(0);
});

test("the list of models needs no key, and a wrong one does not matter", async () => {
  for (const headers of [{}, { authorization: "Bearer wrong" }, { "x-api-key": "wrong" }]) {
    const response = await fetch(`${service.url}/v1/models`, { headers: headers as Record<string, string> });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(Object.keys(models).length);
  }
});

test("a key ends at its time, and sooner or later when that is changed", async () => {
  const { keyId, openai, anthropic } = await limited({ expiresAt: timestampFromMs(Date.now() + 3_600_000) });
  const ask = () => openai.chat.completions.create({ model: models.plain, messages });
  expect((await ask()).choices).toHaveLength(1);
  await operator.updateKey({ keyId, limits: { expiresAt: timestampFromMs(Date.now() + 300) } });
  await eventually("the key has ended", async () => (await ask().catch(({ status }) => status)) === 401);
  const wanted = { model: models.plain, messages, max_tokens: 5 };
  await expect(anthropic.messages.create(wanted)).rejects.toMatchObject({ status: 401, type: "authentication_error" });
  await operator.updateKey({ keyId, updateMask: { paths: ["limits.expires_at"] } });
  expect((await ask()).choices).toHaveLength(1);
});

test("a frozen account is told why, finishes what runs, and keeps what it has", async () => {
  const { account } = await operator.createAccount({});
  const own = account?.id ?? "";
  await operator.topUp({ accountId: own, amountPicoUsd: 10n ** 13n, reference: "frozen" });
  const { secret } = await operator.createKey({ accountId: own });
  const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: secret, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: service.url, apiKey: secret, maxRetries: 0 });
  const long = { model: models.plain, messages: [{ role: "user" as const, content: "Go on" }], max_tokens: 2000 };
  const running = await openai.chat.completions.create({ ...long, stream: true });
  const chunks = running[Symbol.asyncIterator]();
  expect((await chunks.next()).done).toBe(false);
  await operator.freezeAccount({ accountId: own, reason: "an unpaid invoice" });

  const told = { status: 403, message: expect.stringMatching(/frozen: an unpaid invoice/) };
  const wanted = { model: models.plain, messages, max_tokens: 5 };
  await expect(openai.chat.completions.create(wanted)).rejects.toMatchObject({ ...told, type: "permission_error" });
  await expect(openai.chat.completions.create({ ...wanted, stream: true })).rejects.toMatchObject(told);
  await expect(openai.embeddings.create({ model: models.embedder, input: "x" })).rejects.toMatchObject(told);
  await expect(anthropic.messages.create(wanted)).rejects.toMatchObject({ ...told, type: "permission_error" });
  await expect(anthropic.messages.create({ ...wanted, stream: true })).rejects.toMatchObject(told);
  await expect(anthropic.messages.countTokens(wanted)).rejects.toMatchObject(told);
  const status = async () =>
    (await fetch(`${service.url}/test-auth`, { headers: { authorization: `Bearer ${secret}` } })).json();
  expect(await status()).toMatchObject({ status: "active", frozen: true });
  await operator.topUp({ accountId: own, amountPicoUsd: 10n ** 13n, reference: "frozen, too" });

  let last: OpenAI.Chat.Completions.ChatCompletionChunk | undefined;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    last = next.value;
  }
  expect(last?.usage?.completion_tokens).toBeGreaterThan(0);

  await operator.unfreezeAccount({ accountId: own });
  expect((await openai.chat.completions.create(wanted)).choices).toHaveLength(1);
  expect(await status()).toMatchObject({ frozen: false });
});

async function sumOf(keyId: string, read: (row: UsageRow) => bigint): Promise<bigint> {
  let sum = 0n;
  for await (const { rows } of createClient(MeteringService, service.operator).streamUsage({ keyId })) {
    sum += rows.reduce((total, row) => total + read(row), 0n);
  }
  return sum;
}

/** What a key was charged in all, in pico-USD. */
const spentBy = (keyId: string) => sumOf(keyId, ({ totalCostPicoUsd }) => BigInt(totalCostPicoUsd));

/** The tokens that a key was charged for. */
const tokensOf = (keyId: string) => sumOf(keyId, ({ inputTokens, outputTokens }) => inputTokens + outputTokens);

const opensOn = " It opens again on 20\\d\\d-\\d\\d-\\d\\d\\.";
const budgets = [
  { period: BudgetPeriod.TOTAL, per: "in all", opens: "" },
  { period: BudgetPeriod.DAY, per: "a day", opens: opensOn },
  { period: BudgetPeriod.WEEK, per: "a week", opens: opensOn },
  { period: BudgetPeriod.MONTH, per: "a month", opens: opensOn },
];
test.each(budgets)(
  "a key's budget $per is spent to the last tokens, never passed, and refused in words",
  async (row) => {
    const limit = 10n ** 10n; // 0.01 USD
    const { keyId, openai, anthropic } = await limited({ budgetPicoUsd: limit, budgetPeriod: row.period });
    const long = [{ role: "user" as const, content: "[[sim:tokens=9000]]" }];
    const wanted = { model: models.plain, messages: long, max_tokens: 9000 };
    const ask = async (asked: number) =>
      asked % 2 === 0
        ? (await openai.chat.completions.create(wanted)).choices[0]?.finish_reason
        : (await anthropic.messages.create(wanted)).stop_reason;
    let asked = 0;
    let last: string | null | undefined;
    for (let spent = false; !spent && asked < 100; asked++) {
      await ask(asked).then(
        (end) => {
          last = end;
        },
        () => {
          spent = true;
        },
      );
    }
    expect(asked).toBeGreaterThan(1);
    expect(["length", "max_tokens"]).toContain(last);
    const charged = await spentBy(keyId);
    expect(charged).toBeLessThanOrEqual(limit);
    expect(limit - charged).toBeLessThan(64n * 250_000n);

    const words = `The key's budget of 0\\.01 USD ${row.per} is spent\\.${row.opens}$`;
    const message = expect.stringMatching(new RegExp(words));
    const told = { status: 429, type: "insufficient_quota", code: "insufficient_quota", message };
    const refusal = await openai.chat.completions.create(wanted).catch((error: unknown) => error);
    expect(refusal).toMatchObject(told);
    expect((refusal as InstanceType<typeof OpenAI.APIError>).headers?.get("x-should-retry")).toBe("false");
    await expect(openai.chat.completions.create({ ...wanted, stream: true })).rejects.toMatchObject(told);
    await expect(openai.completions.create({ model: models.plain, prompt: "x" })).rejects.toMatchObject(told);
    const wrong = { type: "invalid_request_error", message };
    for (const stream of [false, true]) {
      const refused = anthropic.messages.create({ ...wanted, stream });
      await expect(refused).rejects.toMatchObject({ status: 400, error: { error: wrong } });
    }
    await operator.updateKey({ keyId, updateMask: { paths: ["limits.budget_pico_usd"] } });
    expect((await openai.chat.completions.create({ model: models.plain, messages })).choices).toHaveLength(1);
  },
);

test("a limit that is lifted and set again counts what was spent meanwhile, though its core had all of it in memory", async () => {
  const budgetPicoUsd = 5n * 10n ** 9n;
  const { keyId, openai } = await limited({ budgetPicoUsd });
  const long = [{ role: "user" as const, content: "[[sim:tokens=9000]]" }];
  const ask = () => openai.chat.completions.create({ model: models.plain, messages: long, max_tokens: 9000 });
  await ask();
  await operator.updateKey({ keyId, updateMask: { paths: ["limits.budget_pico_usd"] } });
  await ask();
  await ask();
  expect(await spentBy(keyId)).toBeGreaterThan(budgetPicoUsd);
  await operator.updateKey({ keyId, limits: { budgetPicoUsd } });
  await expect(ask()).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
});

test("vectors take from a key's budget, and one that is spent refuses them", async () => {
  const { keyId, openai } = await limited({ budgetPicoUsd: 30_000n, budgetPeriod: BudgetPeriod.DAY });
  const told = {
    status: 429,
    code: "insufficient_quota",
    message: expect.stringMatching(/budget of 0\.00000003 USD a day/),
  };
  await expect(openai.embeddings.create({ model: models.embedder, input: "too dear" })).rejects.toMatchObject(told);
  await operator.updateKey({ keyId, limits: { budgetPicoUsd: 10n ** 9n } });
  expect((await openai.embeddings.create({ model: models.embedder, input: "fits" })).data).toHaveLength(1);
});

test("an answer that its client leaves counts for its key's tokens a minute by what it is charged for", async () => {
  const tokensPerMinute = 50_000;
  const { keyId, openai, anthropic } = await limited({ tokensPerMinute });
  const long = {
    model: models.plain,
    max_tokens: 4000,
    messages: [{ role: "user" as const, content: "[[sim:tokens=4000]]" }],
  };
  const leave = [
    (signal: AbortSignal) => openai.chat.completions.create({ ...long, stream: true }, { signal }),
    (signal: AbortSignal) => anthropic.messages.create({ ...long, stream: true }, { signal }),
  ];
  let charged = 0n;
  for (const begin of leave) {
    const leaving = new AbortController();
    const chunks = (await begin(leaving.signal))[Symbol.asyncIterator]();
    for (let read = 0; read < 50; read++) {
      await chunks.next();
    }
    leaving.abort();
    const before = charged;
    await eventually("what was left is charged", async () => {
      charged = await tokensOf(keyId);
      return charged > before;
    });
  }
  expect(charged).toBeGreaterThan(60n);
  const { response } = await openai.chat.completions
    .create({ model: models.plain, messages, max_tokens: 1 })
    .withResponse();
  const remaining = BigInt(response.headers.get("x-ratelimit-remaining-tokens") ?? "");
  expect(remaining).toBeLessThan(BigInt(tokensPerMinute) - charged);
  expect(remaining).toBeGreaterThan(BigInt(tokensPerMinute) - charged - 100n);
});

test("a key that takes another's place goes on with its budget", async () => {
  const { keyId, openai } = await limited({ budgetPicoUsd: 10n ** 10n });
  const wanted = { model: models.plain, messages: [{ role: "user" as const, content: "[[sim:tokens=9000]]" }] };
  const { key, secret } = await operator.rotateKey({ keyId });
  const next = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: secret, maxRetries: 0 });
  const ask = (client: OpenAI) => client.chat.completions.create({ ...wanted, max_tokens: 9000 });
  let refused = false;
  for (let asked = 0; !refused && asked < 100; asked++) {
    await ask(asked % 2 === 0 ? openai : next).catch(() => {
      refused = true;
    });
  }
  const charged = [await spentBy(keyId), await spentBy(key?.id ?? "")];
  expect(charged.every((amount) => amount > 0n)).toBe(true);
  const sum = charged.reduce((total, amount) => total + amount, 0n);
  expect(sum).toBeLessThanOrEqual(10n ** 10n);
  expect(10n ** 10n - sum).toBeLessThan(64n * 250_000n);
  for (const client of [openai, next]) {
    await expect(ask(client)).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
  }
});
