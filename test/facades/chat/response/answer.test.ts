import { expect, test } from "@jest/globals";
import { ChatCompletionSchema } from "#gen/tollgate/chat/v1/chat_completion_answer_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { chatCompletion } from "../../../../facades/chat/response/answer.ts";
import type { Answer } from "../../../../facades/http/core/answer.ts";
import { jsonEncoder } from "../../../../facades/http/json/encoder.ts";
import { expectDescribed } from "../../http/openapi.ts";

const write = jsonEncoder(ChatCompletionSchema);
const plain: Answer = {
  reasoning: "",
  text: "Hi",
  toolCalls: [],
  finishReason: FinishReason.STOP,
  usage: { $typeName: "tollgate.inference.v1.Usage", lots: [], inputTokens: 3n, outputTokens: 2n },
  serviceClass: ServiceClass.STANDARD,
};
const toolCalls = [{ id: "c", name: "f", arguments: "{}" }];

function written(answer: Partial<Answer>, hideReasoning = false) {
  const head = { id: "chatcmpl-1", created: 5, model: "m" };
  const json = JSON.parse(write(chatCompletion(head, { ...plain, ...answer }, { hideReasoning })));
  expectDescribed("/v1/chat/completions", "post", 200, json);
  return json;
}

test("a plain answer, whole", () => {
  expect(written({})).toEqual({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 5,
    model: "m",
    choices: [
      { index: 0, message: { role: "assistant", content: "Hi", refusal: null }, logprobs: null, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } },
  });
});

test.each<[answer: Partial<Answer>, message: object]>([
  [{ text: "" }, { content: "" }],
  [{ reasoning: "hm" }, { content: "Hi", reasoning: "hm" }],
  [
    { text: "", toolCalls },
    { content: null, tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
  ],
  [
    { toolCalls },
    { content: "Hi", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
  ],
])("%j", (answer, message) => {
  expect(written(answer).choices[0].message).toEqual({ role: "assistant", refusal: null, ...message });
});

test("hidden reasoning is left out", () => {
  expect(written({ reasoning: "hm" }, true).choices[0].message).not.toHaveProperty("reasoning");
});

test.each<[FinishReason, string]>([
  [FinishReason.STOP, "stop"],
  [FinishReason.LENGTH, "length"],
  [FinishReason.TOOL_CALLS, "tool_calls"],
  [FinishReason.CONTENT_FILTER, "content_filter"],
  [FinishReason.UNSPECIFIED, "stop"],
])("finish reason %s is %s", (finishReason, expected) => {
  expect(written({ finishReason }).choices[0].finish_reason).toBe(expected);
});

test("usage tells of thinking and of the cache where the engine does", () => {
  const usage = {
    $typeName: "tollgate.inference.v1.Usage" as const,
    costPicoUsd: 1_234_500_000n,
    lots: [],
    inputTokens: 30n,
    outputTokens: 20n,
    reasoningTokens: 7n,
    cachedInputTokens: 16n,
  };
  expect(written({ usage }).usage).toEqual({
    prompt_tokens: 30,
    completion_tokens: 20,
    total_tokens: 50,
    prompt_tokens_details: { cached_tokens: 16 },
    cost: 0.0012345,
    completion_tokens_details: { reasoning_tokens: 7 },
  });
});
