import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemClock } from "#lib/time/clock.ts";
import { OllamaEngine } from "#src/fleet/engines/ollama/engine.ts";
import { generationRequest } from "#src/fleet/engines/ollama/request.ts";
import { drain } from "../collect.ts";
import { chatRequest, plain, textRequest } from "../requests.ts";
import { json, scriptedServer } from "../scripted-server.ts";

const settings = {
  connections: 4,
  clock: systemClock,
  connectTimeoutMs: 1000,
  silenceTimeoutMs: 10_000,
  kind: "generation" as const,
  capacity: 4,
  systemAnywhere: false,
  contextLength: 2048,
};
const never = () => new AbortController().signal;
const body = (request: Parameters<typeof generationRequest>[0]) =>
  JSON.parse(generationRequest(request, settings).body);

test("never lets it cut the conversation", () => {
  const sampling = create(SamplingSchema, { temperature: 0.7, topP: 1, topK: 20, seed: 5n });
  expect(body(chatRequest("hi", { sampling, stopSequences: ["x"] }))).toEqual({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    truncate: false,
    shift: false,
    options: { num_ctx: 2048, num_predict: 1000, temperature: 0.7, top_p: 1, top_k: 20, seed: 5, stop: ["x"] },
  });
  expect(generationRequest(textRequest("Once"), settings).path).toBe("/api/generate");
  expect(body(textRequest("Once"))).toMatchObject({ prompt: "Once", raw: true, truncate: false, shift: false });
});

test("sends calls as objects, and no tools where they are forbidden", () => {
  const messages = [
    { role: Role.USER, text: "hi" },
    { role: Role.ASSISTANT, reasoning: "hm", toolCalls: [{ id: "a", name: "f", argumentsJson: '{"x":1}' }] },
    { role: Role.TOOL, toolCallId: "a", text: "ok" },
  ];
  const sent = body(chatRequest({ messages, tools: [{ name: "f" }] }));
  expect(sent.messages.slice(1)).toEqual([
    {
      role: "assistant",
      content: "",
      thinking: "hm",
      tool_calls: [{ id: "a", function: { name: "f", arguments: { x: 1 } } }],
    },
    { role: "tool", content: "ok", tool_call_id: "a" },
  ]);
  expect(sent.tools).toHaveLength(1);
  const forbidden = { messages, tools: [{ name: "f" }], toolChoice: { mode: ToolChoiceMode.NONE } };
  expect(body(chatRequest(forbidden))).not.toHaveProperty("tools");
});

const long = '{"id":9007199254740993}';

test("sends arguments and schemas with all their digits", () => {
  const messages = [
    { role: Role.USER, text: "hi" },
    { role: Role.ASSISTANT, toolCalls: [{ id: "a", name: "f", argumentsJson: long }] },
  ];
  const { body: sent } = generationRequest(
    chatRequest({ messages, tools: [{ name: "f", parametersJson: long }] }),
    settings,
  );
  expect(sent).toContain(`"arguments":${long}`);
  expect(sent).toContain(`"parameters":${long}`);
});

test("reads a call's arguments with all their digits", async () => {
  await using server = await scriptedServer({
    "/api/chat": (_, response) => {
      response.end(
        `{"message":{"content":"","tool_calls":[{"id":"a","function":{"index":0,"name":"f","arguments":${long}}}]},"done":false}\n` +
          '{"message":{"content":""},"done":true,"total_duration":1234567890123456789,"prompt_eval_count":3,"eval_count":2}\n',
      );
    },
  });
  const engine = new OllamaEngine(server.url, settings);
  const { answer } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(answer.calls).toEqual([expect.objectContaining({ name: "f", arguments: long })]);
  await engine.close();
});

test.each([
  [undefined, undefined],
  [{ enabled: true, deepest: false }, true],
  [{ enabled: false, deepest: false }, false],
])("thinking %j", (thinking, think) => {
  expect(body(chatRequest("hi", thinking && { thinking })).think).toBe(think);
});

test("the deepest thinking of a model with depths", () => {
  const recipe = { ...plain, mode: "always", switch: "reasoning_effort" } as const;
  expect(body(chatRequest("hi", { recipe, thinking: { enabled: true, deepest: true } })).think).toBe("high");
});

test("streams an answer", async () => {
  await using server = await scriptedServer({
    "/api/chat": (_, response) => {
      response.write('{"message":{"role":"assistant","content":"Hel"},"done":false}\n');
      response.end(
        '{"message":{"content":"lo"},"done":true,"done_reason":"length","prompt_eval_count":3,"eval_count":2}\n',
      );
    },
  });
  const engine = new OllamaEngine(server.url, settings);
  const { answer, outputs } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(answer.text).toBe("Hello");
  expect(outputs.at(-1)).toMatchObject({ usage: { inputTokens: 3, outputTokens: 2 } });
  await engine.close();
});

test("streams the continuation of a text", async () => {
  await using server = await scriptedServer({
    "/api/generate": (_, response) => {
      response.end(
        '{"response":" a time","done":false}\n{"response":"","done":true,"prompt_eval_count":2,"eval_count":3}\n',
      );
    },
  });
  const engine = new OllamaEngine(server.url, settings);
  const { answer, outputs } = await drain(engine.generate(textRequest("Once upon"), never()));
  expect(answer.text).toBe(" a time");
  expect(outputs.at(-1)).toMatchObject({ usage: { inputTokens: 2, outputTokens: 3 } });
  await engine.close();
});

test.each<[string, number, object, Reason]>([
  ["a prompt too long", 400, { error: "the input length exceeds the context length" }, Reason.CONTEXT_LENGTH_EXCEEDED],
  [
    "a full queue",
    503,
    { error: "server busy, please try again. maximum pending requests exceeded" },
    Reason.OVERLOADED,
  ],
  ["an unknown model", 404, { error: "model 'x' not found" }, Reason.ENGINE_FAILED],
])("%s", async (_, status, refusal, reason) => {
  await using server = await scriptedServer({ "/api/chat": (_, response) => json(response, refusal, status) });
  const engine = new OllamaEngine(server.url, settings);
  const { error } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(readDetail(error)?.reason).toBe(reason);
  await engine.close();
});

test("embeds without cutting, and names the input that is too long", async () => {
  await using server = await scriptedServer({
    "/api/embed": ({ body: { input } }, response) => {
      if (input.includes("long")) {
        json(response, { error: "the input length exceeds the context length" }, 400);
      } else {
        json(response, { embeddings: input.map((text: string) => [text.length, 0]), prompt_eval_count: input.length });
      }
    },
  });
  const engine = new OllamaEngine(server.url, settings);
  const embed = (inputs: string[]) => engine.embed({ runId: "r", model: "m", inputs }, never());
  const inputs = Array.from({ length: 40 }, (_, i) => "x".repeat(i + 1));
  const { vectors, inputTokens } = await embed(inputs);
  expect(vectors.map((vector) => vector[0])).toEqual(inputs.map(({ length }) => length));
  expect(inputTokens).toBe(40);
  expect(server.received.every(({ body: sent }) => sent.truncate === false)).toBe(true);
  const error = await embed(["a", "long", "b"]).catch((refusal) => refusal);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { case: "tokens", value: { limit: 2048n } },
  });
  await engine.close();
});

test("lists its models and tells that it is there", async () => {
  await using server = await scriptedServer({
    "/api/tags": (_, response) => json(response, { models: [{ name: "qwen3:0.6b" }] }),
    "/api/show": (_, response) =>
      json(response, { capabilities: ["completion"], model_info: { "qwen3.context_length": 40960 } }),
    "/api/version": (_, response) => json(response, { version: "0.20.0" }),
  });
  const engine = new OllamaEngine(server.url, settings);
  expect(await engine.listModels(never())).toEqual([{ id: "qwen3:0.6b", kind: "generation", contextLength: 40960 }]);
  await engine.checkHealth(never());
  expect(await engine.countTokens()).toBeUndefined();
  await engine.close();
});

test("a version that cuts prompts is unfit", async () => {
  await using server = await scriptedServer({
    "/api/version": (_, response) => json(response, { version: "0.11.4" }),
  });
  const engine = new OllamaEngine(server.url, settings);
  await expect(engine.checkHealth(never())).rejects.toMatchObject({
    cause: { transient: false, message: expect.stringContaining("0.11.4, which cuts long prompts") },
  });
  await engine.close();
});

test.each([
  ["more than thirty equal pieces", 32, undefined],
  ["an end in the middle", 5, Reason.ENGINE_FAILED],
])("%s without a last line", async (_, pieces, reason) => {
  await using server = await scriptedServer({
    "/api/chat": (__, response) => {
      const line = { model: "m", message: { role: "assistant", content: " la" }, done: false };
      response.end(`${JSON.stringify(line)}\n`.repeat(pieces));
    },
  });
  const engine = new OllamaEngine(server.url, settings);
  const { outputs, answer, error } = await drain(engine.generate(chatRequest("sing it"), never()));
  expect(readDetail(error)?.reason).toBe(reason);
  expect(answer.text).toBe(" la".repeat(pieces));
  const last = outputs.at(-1);
  expect(last?.finish).toBe(reason === undefined ? FinishReason.LENGTH : undefined);
  expect(last?.usage).toEqual({ inputTokens: 2, outputTokens: pieces, isLowerBound: true });
  expect(server.received[0]?.headers["x-request-id"]).toBe("run-1");
  await engine.close();
});
