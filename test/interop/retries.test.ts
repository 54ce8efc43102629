import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { generateText } from "ai";
import Anthropic0 from "anthropic-sdk-0";
import OpenAI from "openai";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type FrontServer, startFront } from "../facades/http/front-server.ts";
import { refused, scriptedCore } from "../facades/http/scripted-core.ts";

/** When each key called, in milliseconds. Every client has a key of its own: what the core shall say, how often, who. */
const calls = new Map<string, number[]>();

const { transport } = scriptedCore({
  refuse(headers) {
    const key = headers.get("authorization")?.slice("Bearer ".length) ?? "";
    const times = calls.get(key) ?? [];
    calls.set(key, [...times, performance.now()]);
    const [reason = "", count] = key.split("-");
    return times.length < Number(count) ? refusals[reason]?.() : undefined;
  },
});

const second = { retryAfter: { seconds: 1n } };
const refusals: Record<string, () => ReturnType<typeof refused>> = {
  rate: () => refused(Reason.RATE_LIMITED, "Too many requests.", Code.ResourceExhausted, second),
  busy: () => refused(Reason.OVERLOADED, "The model is busy.", Code.Unavailable, second),
  broken: () => refused(Reason.ENGINE_FAILED, "The inference server failed.", Code.Unavailable),
  balance: () => refused(Reason.BALANCE_EXHAUSTED, "Balance exhausted.", Code.ResourceExhausted),
  free: () => refused(Reason.FREE_TIER_LIMITED, "The free tier's limit.", Code.ResourceExhausted, second),
  key: () => refused(Reason.UNAUTHENTICATED, "The key is not valid.", Code.Unauthenticated),
  model: () => refused(Reason.MODEL_NOT_FOUND, "There is no model m.", Code.NotFound),
};

globalThis.AI_SDK_LOG_WARNINGS = false; // it does not know our models

let front: FrontServer;
beforeAll(async () => {
  front = await startFront(transport);
});
afterAll(async () => {
  await front[Symbol.asyncDispose]();
});

const model = "m";
const prompt = "Hi";
const messages = [{ role: "user" as const, content: prompt }];

/** Each client asks once, with its own default of retries where it has one of its own. */
const chatClients: Record<string, (apiKey: string) => Promise<unknown>> = {
  openai: (apiKey) => openai(apiKey).chat.completions.create({ model, messages }),
  openaiStream: (apiKey) => openai(apiKey).chat.completions.create({ model, messages, stream: true }),
  aiSdk: (apiKey) => {
    const provider = createOpenAICompatible({ name: "tollgate", baseURL: `${front.url}/v1`, apiKey });
    return generateText({ model: provider(model), prompt });
  },
  langchain: (apiKey) =>
    new ChatOpenAI({ model, apiKey, configuration: { baseURL: `${front.url}/v1` }, maxRetries: 2 }).invoke(prompt),
};
const messagesClients: Record<string, (apiKey: string) => Promise<unknown>> = {
  anthropic1: (apiKey) => new Anthropic({ baseURL: front.url, apiKey }).messages.create(params),
  anthropic0: (apiKey) => new Anthropic0({ baseURL: front.url, apiKey }).messages.create(params),
  anthropic1Stream: (apiKey) => new Anthropic({ baseURL: front.url, apiKey }).messages.stream(params).finalMessage(),
  anthropic0Stream: (apiKey) => new Anthropic0({ baseURL: front.url, apiKey }).messages.stream(params).finalMessage(),
  aiSdk: (apiKey) => {
    const provider = createAnthropic({ baseURL: `${front.url}/v1`, apiKey });
    return generateText({ model: provider(model), prompt });
  },
  langchain: (apiKey) =>
    new ChatAnthropic({ model, apiKey, anthropicApiUrl: front.url, maxTokens: 9, maxRetries: 2 }).invoke(prompt),
};
const params = { model, messages, max_tokens: 9 };
const openai = (apiKey: string) => new OpenAI({ baseURL: `${front.url}/v1`, apiKey });
const clients = Object.entries({ chat: chatClients, messages: messagesClients }).flatMap(([surface, ones]) =>
  Object.entries(ones).map(([name, ask]) => ({ name: `${surface}_${name}`, ask })),
);
/** Those that know `x-should-retry`; the others go by the status alone. */
const vendors = clients.filter(({ name }) => /openai|anthropic/.test(name));

/** Lets every client ask at the same time. Tells how often each called, and how long it waited at first. */
async function askAll(asking: typeof clients, reason: string, refused: number) {
  return await Promise.all(
    asking.map(async ({ name, ask }) => {
      const key = `${reason}-${refused}-${name}`;
      const error = await ask(key).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const [first = 0, second = first] = calls.get(key) ?? [];
      return { name, error, attempts: calls.get(key)?.length, waited: second - first };
    }),
  );
}

test.each(["rate", "busy", "broken"])(
  "%s: every client tries again, not before retry-after, and succeeds",
  async (reason) => {
    for (const outcome of await askAll(clients, reason, 1)) {
      expect(outcome).toMatchObject({ error: undefined, attempts: 2 });
      if (reason !== "broken") {
        expect(outcome.waited).toBeGreaterThan(990);
      }
    }
  },
);

test.each(["balance", "free"])("%s: x-should-retry keeps both vendors' SDKs from trying again", async (reason) => {
  for (const outcome of await askAll(vendors, reason, 9)) {
    expect(outcome).toMatchObject({ error: expect.any(Error), attempts: 1 });
  }
});

test.each(["key", "model"])("%s: no client tries again", async (reason) => {
  for (const outcome of await askAll(clients, reason, 9)) {
    expect(outcome).toMatchObject({ error: expect.any(Error), attempts: 1 });
  }
});

test("an empty balance is insufficient_quota on one surface and a bad request on the other", async () => {
  const outcomes = await askAll(vendors, "balance", 8);
  for (const { name, error } of outcomes) {
    expect(error).toMatchObject(
      name.startsWith("chat")
        ? { status: 429, type: "insufficient_quota", code: "insufficient_quota" }
        : { status: 400, error: { error: { type: "invalid_request_error" } } },
    );
  }
});

test("langchain knows an empty balance by its code", async () => {
  const [outcome] = await askAll(
    clients.filter(({ name }) => name === "chat_langchain"),
    "balance",
    9,
  );
  expect(outcome).toMatchObject({ error: { name: "InsufficientQuotaError" }, attempts: 1 });
});
