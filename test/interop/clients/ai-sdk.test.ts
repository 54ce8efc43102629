import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  APICallError,
  embed,
  embedMany,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  Output,
  streamText,
  tool,
} from "ai";
import { dialects, models, type Service, startService } from "../../support/service.ts";

globalThis.AI_SDK_LOG_WARNINGS = false; // it does not know our models

let service: Service;
describe.each(dialects)("over %s", (dialect) => {
  beforeAll(async () => {
    service = await startService(dialect);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const chat = () => createOpenAICompatible({ name: "tollgate", baseURL: `${service.url}/v1`, apiKey: service.key });
  const messages = () => createAnthropic({ baseURL: `${service.url}/v1`, apiKey: service.key });

  const asked: unknown[] = [];
  const tools = {
    weather: tool({
      description: "Tells the weather of a city",
      inputSchema: jsonSchema<{ city: string }>({
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      }),
      execute: async (input) => {
        asked.push(input);
        return "Snow";
      },
    }),
    clock: tool({
      inputSchema: jsonSchema<object>({ type: "object", properties: {} }),
      execute: async () => "Noon",
    }),
  };

  describe.each<[string, (model: string) => LanguageModel]>([
    ["@ai-sdk/openai-compatible", (model) => chat()(model)],
    ["@ai-sdk/anthropic", (model) => messages()(model)],
  ])("%s", (name, modelOf) => {
    const settings = (model: string) => ({ model: modelOf(model), maxRetries: 0, maxOutputTokens: 500 });

    test("generateText", async () => {
      const { text, finishReason, usage, warnings } = await generateText({
        ...settings(models.plain),
        instructions: "Be brief.",
        prompt: "[[sim:text=Hello there]]",
        temperature: 0,
        stopSequences: ["END"],
      });
      expect(text).toBe("Hello there");
      expect(finishReason).toBe("stop");
      expect(usage.inputTokens).toBeGreaterThan(0);
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect(warnings ?? []).toEqual([]);
    });

    test("streamText", async () => {
      const result = streamText({ ...settings(models.plain), prompt: "[[sim:text=Hello there]]" });
      let text = "";
      for await (const piece of result.textStream) {
        text += piece;
      }
      expect(text).toBe("Hello there");
      expect(await result.finishReason).toBe("stop");
      const { inputTokens, outputTokens } = await result.usage;
      expect(inputTokens).toBeGreaterThan(0);
      expect(outputTokens).toBeGreaterThan(0);
    });

    test.each([true, false])("a tool loop with parallel calls and thinking (stream: %s)", async (streams) => {
      asked.length = 0;
      const params = {
        ...settings(models.on),
        prompt: 'What now? [[sim:tools=3]] [[sim:args={"city":"Paris"}]]',
        tools,
        stopWhen: isStepCount(3),
      };
      const result = streams ? streamText(params) : await generateText(params);
      if ("consumeStream" in result) {
        await result.consumeStream();
      }
      const steps = await result.steps;
      expect(steps.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual([
        ["weather", "clock", "weather"],
        [],
      ]);
      expect(asked).toEqual([{ city: "Paris" }, { city: "Paris" }]);
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
      expect(await result.text).toContain("Snow");
      for (const { reasoningText } of steps) {
        expect(reasoningText).not.toBe("");
      }
    });

    test.each([
      [models.always, true],
      [models.off, false],
      [models.on, true],
      [models.plain, false],
    ])("%s thinks by itself: %s", async (model, thinks) => {
      const plain = await generateText({ ...settings(model), prompt: "Why?" });
      const streamed = streamText({ ...settings(model), prompt: "Why?" });
      await streamed.consumeStream();
      expect((plain.reasoningText ?? "") !== "").toBe(thinks);
      expect((await streamed.reasoningText) ?? "").toBe(plain.reasoningText ?? "");
      expect(await streamed.text).toBe(plain.text);
    });

    test("thinking is switched by the provider's own option", async () => {
      const on = {
        tollgate: { reasoningEffort: "high" },
        anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } },
      };
      const thinking = await generateText({ ...settings(models.off), prompt: "Why?", providerOptions: on });
      expect(thinking.reasoningText ?? "").not.toBe("");
      const off = { tollgate: { reasoningEffort: "none" }, anthropic: { thinking: { type: "disabled" } } };
      const silent = await generateText({ ...settings(models.on), prompt: "Why?", providerOptions: off });
      expect(silent.reasoningText ?? "").toBe("");
    });

    test("a conversation with tools in its history", async () => {
      const { text } = await generateText({
        ...settings(models.plain),
        messages: [
          {
            role: "system",
            content: "Be brief.",
            providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
          },
          { role: "user", content: [{ type: "text", text: "Weather?" }] },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "tollgate" } } },
              { type: "text", text: "Let me look." },
              { type: "tool-call", toolCallId: "call_1", toolName: "weather", input: { city: "Oslo" } },
            ],
          },
          {
            role: "tool",
            content: [
              {
                type: "tool-result",
                toolCallId: "call_1",
                toolName: "weather",
                output: { type: "error-text", value: "No such city" },
              },
            ],
          },
          { role: "user", content: "[[sim:text=Sorry]]" },
        ],
        allowSystemInMessages: true,
        tools,
      });
      expect(text).toBe("Sorry");
    });

    test("an unknown model is an APICallError", async () => {
      const error = await generateText({ ...settings("none/such"), prompt: "Hi" }).catch((thrown: unknown) => thrown);
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({
        statusCode: 404,
        isRetryable: false,
        message: expect.stringContaining("none/such"),
      });
    });

    test("an image is an APICallError", async () => {
      const image = { type: "file" as const, mediaType: "image/png", data: new Uint8Array([137, 80, 78, 71]) };
      const error = await generateText({
        ...settings(models.plain),
        messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, image] }],
      }).catch((thrown: unknown) => thrown);
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({
        statusCode: 400,
        isRetryable: false,
        message: expect.stringContaining("messages[0]"),
      });
    });

    test("a stream that breaks off ends in an error part", async () => {
      const result = streamText({ ...settings(models.plain), prompt: "[[sim:tokens=50]] [[sim:cut=5]]", onError() {} });
      const types: string[] = [];
      for await (const part of result.stream) {
        types.push(part.type);
      }
      expect(types).toContain("text-delta");
      expect(types).toContain("error");
    });

    test(`the stream has no part that ${name} does not know`, async () => {
      const result = streamText({ ...settings(models.on), prompt: "[[sim:tools=2]]", tools, includeRawChunks: true });
      const types = new Set<string>();
      for await (const part of result.stream) {
        types.add(part.type);
      }
      expect(types).not.toContain("error");
      for (const type of ["reasoning-start", "reasoning-end", "tool-input-start", "tool-call", "finish"]) {
        expect(types).toContain(type);
      }
    });
  });

  describe("structured output", () => {
    const output = Output.object({ schema: jsonSchema<object>({ type: "object", properties: {} }) });

    test("is refused where it is asked for as a response format", async () => {
      const params = { model: chat()(models.plain), maxRetries: 0, prompt: "Hi", output };
      await expect(generateText(params)).rejects.toMatchObject({ statusCode: 400 });
    });

    test("works where the SDK makes a tool of it", async () => {
      const params = { model: messages()(models.plain), maxRetries: 0, prompt: "Hi", output };
      expect((await generateText(params)).output).toEqual({});
    });
  });

  test("tools that change in a conversation", async () => {
    const { toolCalls } = await generateText({
      model: messages()(models.plain),
      maxRetries: 0,
      tools: {
        weather: tools.weather,
        clock: { ...tools.clock, providerOptions: { anthropic: { deferLoading: true } } },
      },
      allowSystemInMessages: true,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "[[sim:tools=2]]" },
        {
          role: "system",
          content: "",
          providerOptions: {
            anthropic: {
              toolChanges: [
                { type: "tool_addition", toolName: "clock" },
                { type: "tool_removal", toolName: "weather" },
                {
                  type: "tool_addition",
                  tool: { type: "function", name: "mail", inputSchema: { type: "object", properties: {} } },
                },
              ],
            },
          },
        },
      ],
    });
    expect(toolCalls.map(({ toolName }) => toolName)).toEqual(["clock", "mail"]);
  });

  describe("embeddings", () => {
    test("one and many", async () => {
      const model = chat().embeddingModel(models.embedder);
      const { embedding, usage } = await embed({ model, value: "Hello" });
      expect(embedding).toHaveLength(1024);
      expect(usage.tokens).toBeGreaterThan(0);
      const { embeddings } = await embedMany({ model, values: ["Hello", "Bonjour"] });
      expect(embeddings[0]).toEqual(embedding);
      expect(embeddings[1]).not.toEqual(embedding);
    });
  });
});
