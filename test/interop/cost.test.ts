import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { formatUsd } from "#lib/money/money.ts";
import { models, type Service, startService } from "../support/service.ts";

// What an answer says of its cost is what the receipt says, to the last digit, over the real wire.

let service: Service;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  service = await startService();
  openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const messages = [{ role: "user" as const, content: "[[sim:text=Hello there]]" }];
const asked = { model: models.plain, messages };

/** The cost of a receipt as the text of a number. */
async function costOf(requestId: string | null | undefined): Promise<number> {
  const receipt = await service.receipt(requestId);
  expect(receipt?.costPicoUsd).toBeGreaterThan(0n);
  return Number(formatUsd(receipt?.costPicoUsd ?? 0n));
}

/** Posts and returns the body as text, with the request's id. */
async function post(path: string, body: object): Promise<{ readonly text: string; readonly id: string | null }> {
  const headers = { authorization: `Bearer ${service.key}` };
  const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return { text: await response.text(), id: response.headers.get("x-request-id") };
}

test.each([
  ["/v1/chat/completions", asked],
  ["/v1/chat/completions", { ...asked, stream: true }],
  ["/v1/chat/completions", { ...asked, stream: true, stream_options: { include_usage: true } }],
  ["/v1/completions", { model: models.plain, prompt: "Once", max_tokens: 5 }],
  ["/v1/completions", { model: models.plain, prompt: ["Once", "upon", "a time"], max_tokens: 5 }],
  ["/v1/completions", { model: models.plain, prompt: ["Once", "upon"], max_tokens: 5, stream: true }],
  ["/v1/embeddings", { model: models.embedder, input: ["a", "b"] }],
  ["/v1/messages", { ...asked, max_tokens: 5 }],
  ["/v1/messages", { ...asked, max_tokens: 5, stream: true }],
])("%s tells the exact cost once: %j", async (path, body) => {
  const { text, id } = await post(path, body);
  const told = [...text.matchAll(/"cost":([^,}]+)/g)].map(([, cost]) => cost);
  const exact = formatUsd((await service.receipt(id))?.costPicoUsd ?? 0n).replace(/\.?0+$/, "");
  expect(told).toEqual([exact]);
});

test("what each lot paid is told where it is asked for", async () => {
  const { text, id } = await post("/v1/chat/completions", { ...asked, usage: { include: true } });
  const { usage } = JSON.parse(text);
  const receipt = await service.receipt(id);
  const lots = receipt?.lines.map(({ lotId, costPicoUsd }) => ({
    lot_id: lotId,
    cost: Number(formatUsd(costPicoUsd)),
  }));
  expect(usage).toMatchObject({ cost: await costOf(id), cost_details: { lots } });
  const without = await post("/v1/chat/completions", { ...asked, usage: { include: false } });
  expect(without.text).not.toContain("cost_details");
});

test("both SDKs pass the cost on, whole and streamed", async () => {
  const whole = await openai.chat.completions.create(asked);
  expect(whole.usage).toMatchObject({ cost: await costOf(whole._request_id) });
  const stream = await openai.chat.completions.create({ ...asked, stream: true }).withResponse();
  let usage: object | null | undefined;
  for await (const chunk of stream.data) {
    usage = chunk.usage ?? usage;
  }
  expect(usage).toMatchObject({ cost: await costOf(stream.request_id) });

  const message = await anthropic.messages.create({ ...asked, max_tokens: 5 });
  expect(message.usage).toMatchObject({ cost: await costOf(message._request_id) });
  const final = await anthropic.messages.stream({ ...asked, max_tokens: 5 }).finalMessage();
  expect(final.usage.output_tokens).toBeGreaterThan(0);
});

test("a receipt tells how its run went", async () => {
  const stream = await openai.chat.completions.create({ ...asked, stream: true }).withResponse();
  for await (const _ of stream.data) {
    // read to the end
  }
  expect(await service.receipt(stream.request_id)).toMatchObject({
    finishReason: "stop",
    streamed: true,
    surface: "chat",
    server: expect.stringMatching(/./),
    firstToken: expect.anything(),
    duration: expect.anything(),
  });
  const cut = await anthropic.messages.create({
    model: models.on,
    messages: [{ role: "user", content: "Go on" }],
    max_tokens: 3,
  });
  expect(await service.receipt(cut._request_id)).toMatchObject({
    finishReason: "length",
    streamed: false,
    surface: "messages",
  });
  const embedding = await post("/v1/embeddings", { model: models.embedder, input: "x" });
  expect(await service.receipt(embedding.id)).toMatchObject({ finishReason: "", surface: "chat", streamed: false });
});
