import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { describeGguf } from "#src/fleet/engines/llama-cpp-embedded/describe.ts";
import { writeChatModel, writeEmbeddingModel } from "../../scripts/tiny-gguf.ts";
import { type Service, serveModels } from "../support/service.ts";

// Every client over a real llama.cpp. The weights are random, so what it says is noise; its counts are not.

let folder: string;
let service: Omit<Service, "idle">;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-gguf-"));
  writeChatModel(join(folder, "chat.gguf"));
  writeEmbeddingModel(join(folder, "embedding.gguf"));
  service = await serveModels([
    await describeGguf(join(folder, "chat.gguf")),
    await describeGguf(join(folder, "embedding.gguf")),
  ]);
}, 60_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const openai = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "Hello" }];

test("openai: plain and streamed, with and without thinking", async () => {
  for (const reasoningEffort of ["none", "medium"] as const) {
    const request = { model: "chat", messages, max_tokens: 30, seed: 1, reasoning_effort: reasoningEffort };
    const { data, response } = await openai().chat.completions.create(request).withResponse();
    expect(data.usage?.completion_tokens).toBeGreaterThan(0);
    expect(await service.receipt(response.headers.get("x-request-id"))).toMatchObject({
      inputTokens: data.usage?.prompt_tokens,
      outputTokens: data.usage?.completion_tokens,
    });
    const stream = openai().chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    const whole = await stream.finalChatCompletion();
    expect(whole.choices[0]?.finish_reason).toMatch(/stop|length/);
    expect(whole.usage?.prompt_tokens).toBe(data.usage?.prompt_tokens);
  }
});

test("anthropic: plain and streamed, input counted in message_start", async () => {
  const request = { model: "chat", messages, max_tokens: 30 };
  const message = await anthropic().messages.create(request);
  expect(await service.receipt(message._request_id)).toMatchObject({
    inputTokens: message.usage.input_tokens,
    outputTokens: message.usage.output_tokens,
  });
  const stream = anthropic().messages.stream(request);
  let begun = 0;
  stream.on("streamEvent", (event) => {
    if (event.type === "message_start") {
      begun = event.message.usage.input_tokens;
    }
  });
  const whole = await stream.finalMessage();
  expect(begun).toBe(message.usage.input_tokens);
  expect(await service.receipt(stream.request_id)).toMatchObject({ outputTokens: whole.usage.output_tokens });
});

test("the AI SDK and LangChain on both surfaces", async () => {
  const { url, key } = service;
  const compatible = createOpenAICompatible({
    name: "tollgate",
    baseURL: `${url}/v1`,
    apiKey: key,
    includeUsage: true,
  });
  const native = createAnthropic({ baseURL: `${url}/v1`, apiKey: key });
  for (const model of [compatible("chat"), native("chat")]) {
    const plain = await generateText({ model, prompt: "Hello", maxOutputTokens: 30, maxRetries: 0 });
    expect(plain.usage.outputTokens).toBeGreaterThan(0);
    const streamed = streamText({ model, prompt: "Hello", maxOutputTokens: 30, maxRetries: 0 });
    expect((await streamed.usage).inputTokens).toBe(plain.usage.inputTokens);
  }
  const chat = new ChatOpenAI({ model: "chat", apiKey: key, maxTokens: 30, configuration: { baseURL: `${url}/v1` } });
  const claude = new ChatAnthropic({ model: "chat", apiKey: key, maxTokens: 30, anthropicApiUrl: url });
  for (const answer of [await chat.invoke("Hello"), await claude.invoke("Hello")]) {
    expect(answer.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
  }
});

test("embeddings, and an input that is too long refused by index", async () => {
  const { data, usage } = await openai().embeddings.create({ model: "embedding", input: ["one", "two"] });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([1024, 1024]);
  expect(usage.prompt_tokens).toBeGreaterThan(0);
  const tooLong = openai().embeddings.create({ model: "embedding", input: ["one", "x ".repeat(9000)] });
  await expect(tooLong).rejects.toThrow(/Input 1 has \d+ tokens; an input may have at most 8192/);
});

test("a prompt over the context is refused in words that clients know", async () => {
  const long = [{ role: "user" as const, content: "x ".repeat(5000) }];
  await expect(openai().chat.completions.create({ model: "chat", messages: long })).rejects.toMatchObject({
    status: 400,
    code: "context_length_exceeded",
  });
  await expect(anthropic().messages.create({ model: "chat", max_tokens: 5, messages: long })).rejects.toThrow(
    /prompt is too long: \d+ tokens > \d+ maximum/,
  );
});
