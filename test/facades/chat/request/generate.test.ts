import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { RequestError } from "../../../../facades/http/request/error.ts";
import { chatBody, refusalOf, translated } from "../samples.ts";

test("the least request leaves everything else to the model", () => {
  expect(translated(chatBody())).toEqual({
    $typeName: "tollgate.inference.v1.GenerateRequest",
    requestId: "req_1",
    model: "m",
    prompt: {
      case: "conversation",
      value: {
        $typeName: "tollgate.inference.v1.Conversation",
        messages: [expect.objectContaining({ role: 2, text: "hi" })],
        tools: [],
      },
    },
    sampling: { $typeName: "tollgate.inference.v1.Sampling" },
    thinking: Thinking.UNSPECIFIED,
    stopSequences: [],
    gathered: true,
    serviceClass: 0,
    labels: {},
  });
});

test.each<[field: object, expected: object]>([
  [{ stream: true }, { gathered: false }],
  [{ stream: false }, { gathered: true }],
  [{ stream: null }, { gathered: true }],
  [{ temperature: 0 }, { sampling: { temperature: 0 } }],
  [{ top_p: 0.5 }, { sampling: { topP: 0.5 } }],
  [{ top_k: 40, min_p: 0.05, repetition_penalty: 1.1 }, { sampling: { topK: 40, minP: 0.05, repetitionPenalty: 1.1 } }],
  [{ top_k: -1 }, { sampling: { topK: 0 } }],
  [{ presence_penalty: -2, frequency_penalty: 2 }, { sampling: { presencePenalty: -2, frequencyPenalty: 2 } }],
  [{ seed: -1 }, { sampling: { seed: -1n } }],
  [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
  [{ max_completion_tokens: 6 }, { maxOutputTokens: 6 }],
  [{ max_tokens: 5, max_completion_tokens: 6 }, { maxOutputTokens: 6 }],
  [{ max_tokens: Number.MAX_SAFE_INTEGER }, { maxOutputTokens: 4294967295 }],
  [{ stop: "x" }, { stopSequences: ["x"] }],
  [{ stop: ["x", "", "y"] }, { stopSequences: ["x", "y"] }],
  [{ stop: "" }, { stopSequences: [] }],
  [{ stop: [] }, { stopSequences: [] }],
  [{ response_format: { type: "text" } }, { stopSequences: [] }],
  [{ modalities: ["text"] }, { stopSequences: [] }],
  [{ n: 1 }, { stopSequences: [] }],
  [{ service_tier: "auto" }, { serviceClass: ServiceClass.UNSPECIFIED }],
  [{ service_tier: "default" }, { serviceClass: ServiceClass.STANDARD }],
  [{ service_tier: "flex" }, { serviceClass: ServiceClass.FLEX }],
  [{ service_tier: "priority" }, { serviceClass: ServiceClass.PRIORITY }],
])("%j", (field, expected) => {
  expect(translated(chatBody(field))).toMatchObject(expected);
});

test.each<[field: object, refusal: RegExp]>([
  [
    { response_format: { type: "json_object" } },
    /^400 response_format.type: .*JSON mode and structured outputs are not available/,
  ],
  [{ response_format: { type: "json_schema", json_schema: {} } }, /^400 response_format.type: /],
  [{ modalities: ["text", "audio"] }, /^400 modalities\[1\]: /],
  [{ audio: { voice: "x" } }, /^400 audio: /],
  [{ web_search_options: {} }, /^400 web_search_options: /],
  [{ functions: [{ name: "f" }] }, /^400 functions: .*use tools/],
  [{ function_call: "auto" }, /^400 function_call: .*use tool_choice/],
  [{ n: 2 }, /^400 n: n must be 1/],
  [{ guided_json: {} }, /^400 guided_json: .*structured outputs/],
  [{ guided_choice: ["a"] }, /^400 guided_choice: /],
  [{ structured_outputs: { regex: "a" } }, /^400 structured_outputs: /],
  [{ grammar: "root ::= [0-9]" }, /^400 grammar: /],
  [{ ignore_eos: true }, /^400 ignore_eos: ignore_eos must be false: an answer ends where/],
  [{ min_tokens: 5 }, /^400 min_tokens: /],
  [{ stop_token_ids: [2] }, /^400 stop_token_ids: .*use stop/],
  [{ chat_template: "{{ x }}" }, /^400 chat_template: /],
  [{ documents: [{ text: "x" }] }, /^400 documents: /],
  [{ moderation: {} }, /^400 moderation: /],
  [{ models: ["a", "b"] }, /^400 models: /],
  [{ route: "fallback" }, /^400 route: /],
  [{ plugins: [{ id: "web" }] }, /^400 plugins: /],
  [{ preset: "p" }, /^400 preset: /],
  [{ provider: { max_price: { prompt: 1 } } }, /^400 provider.max_price: /],
])("%j is refused", (field, refusal) => {
  expect(refusalOf(chatBody(field))).toMatch(refusal);
});

test("what has no effect is ignored", () => {
  const ignored = {
    user: "u",
    store: true,
    metadata: { a: "b" },
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    safety_identifier: "s",
    prediction: { type: "content", content: "x" },
    verbosity: "low",
    logprobs: false,
    top_logprobs: false,
    logit_bias: {},
    cache_control: { type: "ephemeral" },
    stream_options: { include_usage: true, include_obfuscation: false },
    provider: { order: ["x"], allow_fallbacks: false },
    transforms: ["middle-out"],
    thinking_budget: 100,
    ...{ ignore_eos: false, min_tokens: 0, stop_token_ids: [], bad_words: [], use_beam_search: false, top_a: 0 },
    ...{ models: [], plugins: [], documents: [], guided_json: null, route: null },
  };
  expect(translated(chatBody(ignored))).toEqual(translated(chatBody()));
});

test("any body is a request, or is refused with a path", () => {
  const anyBody = fc.record(
    {
      model: fc.constantFrom<unknown>("m", "", 5),
      messages: fc.array(
        fc.record(
          {
            role: fc.constantFrom("system", "developer", "user", "assistant", "tool", "function", 1),
            content: fc.oneof(
              fc.string(),
              fc.constant(null),
              fc.array(fc.record({ type: fc.constantFrom("text", "image_url"), text: fc.string() })),
            ),
            tool_call_id: fc.string(),
            tool_calls: fc.array(
              fc.record({
                id: fc.string(),
                function: fc.record({ name: fc.string(), arguments: fc.oneof(fc.string(), fc.json()) }),
              }),
            ),
          },
          { requiredKeys: ["role"] },
        ),
      ),
      tools: fc.array(
        fc.record({
          type: fc.constantFrom("function", "custom"),
          function: fc.record({ name: fc.string(), parameters: fc.jsonValue() }),
        }),
      ),
      tool_choice: fc.oneof(
        fc.constantFrom("auto", "none", "required"),
        fc.record({ type: fc.constant("function"), function: fc.record({ name: fc.string() }) }),
      ),
      stop: fc.jsonValue(),
      max_tokens: fc.oneof(fc.double(), fc.integer()),
      reasoning: fc.jsonValue(),
      thinking: fc.jsonValue(),
      response_format: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(anyBody, (body) => {
      try {
        translated(body);
      } catch (error) {
        expect(error).toBeInstanceOf(RequestError);
        expect((error as RequestError).param).not.toBe("");
      }
    }),
    { numRuns: 500 },
  );
});
