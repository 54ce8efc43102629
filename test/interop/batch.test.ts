import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { OpenAI as LangChain } from "@langchain/openai";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, serveModels } from "../support/service.ts";

// Several prompts in one completion, as LangChain's batch sends them.

let simulator: Simulator;
let service: Omit<Service, "idle">;
beforeAll(async () => {
  simulator = await startSimulator({ models: ["m"], speed: 0 });
  service = await serveModels([{ id: "m", servers: [{ url: simulator.url }] }]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await simulator.close();
});
const client = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
const wish = (tokens: number) => `[[sim:tokens=${tokens}]]`;
const prompts = [wish(3), wish(40), wish(7)];
const request = { model: "m", prompt: prompts, max_tokens: 20 };

test("each prompt has a choice, and one receipt has what all used", async () => {
  const { data, response } = await client().completions.create(request).withResponse();
  expect(data.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
    [0, "stop"],
    [1, "length"],
    [2, "stop"],
  ]);
  expect(data.usage?.completion_tokens).toBe(3 + 20 + 7);
  const alone = await Promise.all(prompts.map((prompt) => client().completions.create({ ...request, prompt })));
  expect(data.choices.map(({ text }) => text.length > 0)).toEqual([true, true, true]);
  expect(data.usage?.prompt_tokens).toBe(alone.reduce((sum, { usage }) => sum + (usage?.prompt_tokens ?? 0), 0));
  expect(await service.receipt(response.headers.get("x-request-id"))).toMatchObject({
    inputTokens: data.usage?.prompt_tokens,
    outputTokens: data.usage?.completion_tokens,
  });
});

test.each([true, false])("streamed, each chunk tells whose it is; usage apart: %s", async (includeUsage) => {
  const { data, response } = await client()
    .completions.create({ ...request, stream: true, stream_options: { include_usage: includeUsage } })
    .withResponse();
  const texts = ["", "", ""];
  const ends: (string | null)[] = [];
  let usage: OpenAI.CompletionUsage | undefined;
  for await (const chunk of data) {
    for (const choice of chunk.choices) {
      texts[choice.index] += choice.text;
      if (choice.finish_reason !== null) {
        ends[choice.index] = choice.finish_reason;
      }
    }
    if (chunk.usage) {
      usage = chunk.usage;
    }
  }
  expect(texts.every((text) => text !== "")).toBe(true);
  expect(ends).toEqual(["stop", "length", "stop"]);
  expect(usage?.completion_tokens).toBe(30);
  expect(await service.receipt(response.headers.get("x-request-id"))).toMatchObject({ outputTokens: 30 });
});

test("LangChain's batch", async () => {
  const model = new LangChain({
    model: "m",
    maxTokens: 20,
    maxRetries: 0,
    batchSize: 16,
    apiKey: service.key,
    configuration: { baseURL: `${service.url}/v1` },
  });
  const { generations, llmOutput } = await model.generate(prompts);
  expect(generations.map(([one]) => (one?.text.length ?? 0) > 0)).toEqual([true, true, true]);
  expect(llmOutput).toMatchObject({ tokenUsage: { completionTokens: 30 } });
});

test("one that fails ends all, and what ran is charged as one", async () => {
  const failing = [wish(500), "[[sim:error=5]] [[sim:tokens=50]]"];
  const { data, response } = await client()
    .completions.create({ ...request, max_tokens: 500, prompt: failing, stream: true })
    .withResponse();
  await expect(
    (async () => {
      for await (const _ of data) {
      }
    })(),
  ).rejects.toThrow("inference server");
  const receipt = await service.receipt(response.headers.get("x-request-id"));
  expect(receipt?.outputTokens).toBeGreaterThanOrEqual(5);
  await eventually("the engine is idle", () => simulator.metrics().running === 0);
});

test.each<[string, OpenAI.Completions.CompletionCreateParams["prompt"], string]>([
  ["too many", Array(17).fill("a"), "prompt must have at most 16 items"],
  ["an empty one", ["a", ""], "prompt[1] must not be empty"],
  ["token ids", [1, 2, 3], "arrays of token ids are not supported"],
  ["many token ids", Array(40).fill(7), "arrays of token ids are not supported"],
  ["arrays of token ids", [[1, 2], [3]], "arrays of token ids are not supported"],
])("%s is a 400", async (_, prompt, message) => {
  await expect(client().completions.create({ ...request, prompt })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(message),
  });
});
