import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { models, type Service, startService } from "../support/service.ts";

// Whatever the engines speak, a client sees the same: every thinking class and switch, tools, usage, receipts.

/** Of the simulated fleet's chat models, in tokens. */
const contextLength = 32_768;

const city = { type: "object" as const, properties: { city: { type: "string" } } };

describe.each(["vllm", "sglang", "llama.cpp"] as const)("engines that speak %s", (dialect) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(dialect);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });
  const openai = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  const anthropic = () => new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });

  test.each<[keyof typeof models, OpenAI.ReasoningEffort | undefined, boolean]>([
    ["plain", undefined, false],
    ["plain", "high", false],
    ["always", undefined, true],
    ["always", "none", true],
    ["off", undefined, false],
    ["off", "none", false],
    ["off", "low", true],
    ["off", "high", true],
    ["on", undefined, true],
    ["on", "none", false],
    ["on", "medium", true],
  ])("chat: %s with reasoning_effort %s", async (name, effort, thinks) => {
    const request = {
      model: models[name],
      messages: [{ role: "user" as const, content: "[[sim:text=The answer]]" }],
      ...(effort !== undefined && { reasoning_effort: effort }),
    };
    const { data, response } = await openai().chat.completions.create(request).withResponse();
    const message = data.choices[0]?.message as OpenAI.ChatCompletionMessage & { reasoning?: string };
    expect(message.content).toBe("The answer");
    expect(message.reasoning !== undefined).toBe(thinks);
    expect(await service.receipt(response.headers.get("x-request-id"))).toMatchObject({
      inputTokens: data.usage?.prompt_tokens,
      outputTokens: data.usage?.completion_tokens,
    });
    const stream = await openai().chat.completions.create({ ...request, stream: true });
    let [text, reasoning] = ["", ""];
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta as OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning?: string };
      text += delta?.content ?? "";
      reasoning += delta?.reasoning ?? "";
    }
    expect([text, reasoning]).toEqual(["The answer", message.reasoning ?? ""]);
  });

  test.each<[keyof typeof models, "enabled" | "disabled" | undefined, boolean]>([
    ["plain", "enabled", false],
    ["always", undefined, true],
    ["always", "disabled", true],
    ["off", undefined, false],
    ["off", "enabled", true],
    ["off", "disabled", false],
    ["on", undefined, true],
    ["on", "disabled", false],
  ])("messages: %s with thinking %s", async (name, type, thinks) => {
    const thinking = type === "enabled" ? { type, budget_tokens: 1024 } : { type: "disabled" as const };
    const stream = anthropic().messages.stream({
      model: models[name],
      max_tokens: 2000,
      messages: [{ role: "user", content: "[[sim:text=The answer]]" }],
      ...(type !== undefined && { thinking }),
    });
    const { content, usage } = await stream.finalMessage();
    expect(content.map((block) => block.type)).toEqual(thinks ? ["thinking", "text"] : ["text"]);
    expect(content.at(-1)).toMatchObject({ text: "The answer" });
    expect(await service.receipt(stream.request_id)).toMatchObject({
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
    });
  });

  test("parallel tool calls arrive whole on both surfaces", async () => {
    const prompt = "[[sim:tools=2]] What is the weather in Ulm and in Bonn?";
    const tools = [{ type: "function" as const, function: { name: "weather", parameters: city } }];
    const messages = [{ role: "user" as const, content: prompt }];
    const chat = openai().chat.completions.stream({ model: models.plain, messages, tools });
    const calls = (await chat.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    for (const call of calls) {
      expect(JSON.parse(call.type === "function" ? call.function.arguments : "")).toEqual(expect.any(Object));
    }
    const message = await anthropic()
      .messages.stream({
        model: models.plain,
        max_tokens: 500,
        messages,
        tools: [{ name: "weather", input_schema: city }],
      })
      .finalMessage();
    const uses = message.content.filter((block) => block.type === "tool_use");
    expect(uses).toHaveLength(2);
    expect(message.stop_reason).toBe("tool_use");
  });

  test("an answer that would pass the context shrinks, although the prompt looked short enough", async () => {
    const content = `[[sim:text=The answer]] ${"a ".repeat(20_000)}`;
    const { data, response } = await openai()
      .chat.completions.create({ model: models.plain, max_tokens: 20_000, messages: [{ role: "user", content }] })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe("The answer");
    const { prompt_tokens: promptTokens = 0, completion_tokens: outputTokens } = data.usage ?? {};
    expect(promptTokens + 20_000).toBeGreaterThan(contextLength);
    expect(await service.receipt(response.headers.get("x-request-id"))).toMatchObject({
      inputTokens: promptTokens,
      outputTokens,
    });
  });

  test("a prompt over the context is refused in words that clients know", async () => {
    const content = "word ".repeat(40_000);
    const chat = openai().chat.completions.create({ model: models.plain, messages: [{ role: "user", content }] });
    await expect(chat).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
    const message = anthropic().messages.create({
      model: models.plain,
      max_tokens: 5,
      messages: [{ role: "user", content }],
    });
    await expect(message).rejects.toThrow(/prompt is too long: \d+ tokens > \d+ maximum/);
  });
});

test.each(["sglang", "openai"] as const)(
  "engines that speak %s begin without a count, and the stream tells one",
  async (dialect) => {
    await using service = await startService(dialect);
    const content = `[[sim:text=The answer]] [[sim:split=50]] ${"word ".repeat(200)}`;
    const stream = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 }).messages.stream({
      model: models.plain,
      max_tokens: 100,
      messages: [{ role: "user", content }],
    });
    let told = 0;
    stream.on("streamEvent", (event) => {
      if (event.type === "message_start") {
        told = event.message.usage.input_tokens;
      }
    });
    const { usage } = await stream.finalMessage();
    expect(told).toBeGreaterThan(usage.input_tokens / 2);
    expect(told).toBeLessThan(usage.input_tokens * 2);
    expect(await service.receipt(stream.request_id)).toMatchObject({ inputTokens: usage.input_tokens });
  },
);
