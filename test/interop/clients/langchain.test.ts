import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  type AIMessage,
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { dialects, models, type Service, startService } from "../../support/service.ts";

let service: Service;
describe.each(dialects)("over %s", (dialect) => {
  beforeAll(async () => {
    service = await startService(dialect);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const weather = {
    type: "function",
    function: {
      name: "weather",
      description: "Tells the weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  };
  const clock = {
    type: "function",
    function: { name: "clock", description: "Tells the time", parameters: { type: "object", properties: {} } },
  };

  async function gather(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
    let whole: AIMessageChunk | undefined;
    for await (const chunk of stream) {
      whole = whole === undefined ? chunk : whole.concat(chunk);
    }
    return whole ?? new AIMessageChunk("");
  }

  describe.each<[string, (model: string, fields?: object) => BaseChatModel]>([
    [
      "@langchain/openai",
      (model, fields) =>
        new ChatOpenAI({
          model,
          apiKey: service.key,
          configuration: { baseURL: `${service.url}/v1` },
          maxRetries: 0,
          ...fields,
        }),
    ],
    [
      "@langchain/anthropic",
      (model, fields) =>
        new ChatAnthropic({
          model,
          apiKey: service.key,
          anthropicApiUrl: service.url,
          maxTokens: 500,
          maxRetries: 0,
          ...fields,
        }),
    ],
  ])("%s", (_, modelOf) => {
    test("invoke and stream", async () => {
      const prompt = [new SystemMessage("Be brief."), new HumanMessage("[[sim:text=Hello there]]")];
      const plain = (await modelOf(models.plain).invoke(prompt)) as AIMessageChunk;
      const streamed = await gather(await modelOf(models.plain, { streamUsage: true }).stream(prompt));
      for (const { text } of [plain, streamed]) {
        expect(text).toBe("Hello there");
      }
      const counts = (message: { usage_metadata?: unknown }) => {
        const { input_tokens, output_tokens, total_tokens } = message.usage_metadata as UsageMetadata;
        return [input_tokens, output_tokens, total_tokens];
      };
      expect(counts(plain)).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
      expect(counts(streamed)).toEqual(counts(plain));
    });

    test.each([true, false])("a tool loop with parallel calls and thinking (stream: %s)", async (streams) => {
      const model = modelOf(models.on).bindTools?.([weather, clock]);
      if (model === undefined) {
        throw new Error("no tools");
      }
      const history: (HumanMessage | AIMessage | ToolMessage)[] = [
        new HumanMessage('What now? [[sim:tools=3]] [[sim:args={"city":"Paris"}]]'),
      ];
      const run = async () =>
        streams ? await gather(await model.stream(history)) : ((await model.invoke(history)) as AIMessageChunk);
      const first = await run();
      expect(first.tool_calls?.map(({ name: called, args }) => [called, args])).toEqual([
        ["weather", { city: "Paris" }],
        ["clock", { city: "Paris" }],
        ["weather", { city: "Paris" }],
      ]);
      history.push(first as unknown as AIMessage);
      for (const { id = "" } of first.tool_calls ?? []) {
        history.push(new ToolMessage("Rain", id));
      }
      const second = await run();
      expect(second.tool_calls ?? []).toEqual([]);
      expect(second.text).toContain("Rain");
    });

    test("an unknown model", async () => {
      await expect(modelOf("none/such").invoke("Hi")).rejects.toMatchObject({ status: 404 });
    });

    test("a prompt that is too long is known as such", async () => {
      const error = await modelOf(models.plain)
        .invoke("word ".repeat(40_000))
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "ContextOverflowError" });
    });
  });

  test("thinking arrives as content blocks", async () => {
    const model = new ChatAnthropic({
      model: models.off,
      apiKey: service.key,
      anthropicApiUrl: service.url,
      maxTokens: 2000,
      thinking: { type: "enabled", budget_tokens: 1024 },
    });
    const { content } = await model.invoke("Why?");
    expect(content).toMatchObject([{ type: "thinking", signature: expect.any(String) }, { type: "text" }]);
  });

  test("embeddings", async () => {
    const embeddings = new OpenAIEmbeddings({
      model: models.embedder,
      apiKey: service.key,
      configuration: { baseURL: `${service.url}/v1` },
      batchSize: 2,
    });
    const [first = [], second, third] = await embeddings.embedDocuments(["Hello", "Bonjour", "Hello"]);
    expect(first).toHaveLength(1024);
    expect(third).toEqual(first);
    expect(second).not.toEqual(first);
    expect(await embeddings.embedQuery("Hello")).toEqual(first);
  });
});
