import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { EngineRequest } from "#src/fleet/engines/interface.ts";
import { sglang } from "#src/fleet/engines/sglang/dialect.ts";
import { generationRequest } from "#src/fleet/engines/shared/chat-completions/request.ts";
import { trtllm } from "#src/fleet/engines/trtllm/dialect.ts";
import { vllm } from "#src/fleet/engines/vllm/dialect.ts";
import { chatRequest, plain, textRequest } from "../../requests.ts";

const body = (request: EngineRequest) => JSON.parse(generationRequest(request, vllm, false).body);

test("sends the common fields and nothing else", () => {
  expect(body(chatRequest("hi"))).toEqual({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    max_tokens: 1000,
    temperature: 0.7,
    top_p: 1,
    stream: true,
    stream_options: { include_usage: true, continuous_usage_stats: true },
  });
});

test("sends a schema with all its digits", () => {
  const schema = '{"properties":{"id":{"const":9007199254740993}}}';
  const messages = [{ role: Role.USER, text: "hi" }];
  const request = chatRequest({ messages, tools: [{ name: "f", parametersJson: schema }] });
  expect(generationRequest(request, vllm, false).body).toContain(`"parameters":${schema}`);
});

test("sends every sampling field that is set", () => {
  const sampling = create(SamplingSchema, {
    temperature: 0,
    topP: 0.5,
    topK: 0,
    presencePenalty: 0,
    frequencyPenalty: -1,
    seed: 2n ** 62n + 5n,
  });
  const sent = body(chatRequest("hi", { sampling, stopSequences: ["a", "b"], cacheSalt: "acc" }));
  expect(sent).toMatchObject({
    temperature: 0,
    top_p: 0.5,
    top_k: -1,
    presence_penalty: 0,
    frequency_penalty: -1,
    seed: 5,
    stop: ["a", "b"],
    cache_salt: "acc",
  });
  expect(body(chatRequest("hi", { sampling: create(SamplingSchema, { topK: 20 }) })).top_k).toBe(20);
});

test("asks for larger pieces of an answer that nobody reads as it comes", () => {
  expect(body(chatRequest("hi", { gathered: true })).stream_interval).toBe(16);
  expect(body(textRequest("Once upon", { gathered: true })).stream_interval).toBe(16);
  expect(body(chatRequest("hi", { gathered: false }))).not.toHaveProperty("stream_interval");
});

test("asks for each token where tools may be called", () => {
  const messages = [{ role: Role.USER, text: "weather?" }];
  const sent = body(chatRequest({ messages, tools: [{ name: "weather" }] }, { gathered: true }));
  expect(sent).not.toHaveProperty("stream_interval");
  expect(sent.return_token_ids).toBe(true);
});

test("continues a text without a template", () => {
  const request = textRequest("Once upon");
  expect(generationRequest(request, vllm, false).path).toBe("/v1/completions");
  expect(body(request)).toMatchObject({ prompt: "Once upon", max_tokens: 1000 });
});

test("sends turns, thinking and tool calls in the engine's form", () => {
  const request = chatRequest({
    messages: [
      { role: Role.SYSTEM, text: "be kind" },
      { role: Role.USER, text: "weather?" },
      {
        role: Role.ASSISTANT,
        reasoning: "hm",
        toolCalls: [
          { id: "a", name: "weather", argumentsJson: '{"b":1, "a":2}' },
          { id: "b", name: "time", argumentsJson: "" },
        ],
      },
      { role: Role.TOOL, toolCallId: "a", text: "rain" },
      { role: Role.TOOL, toolCallId: "b", text: "" },
    ],
    tools: [
      { name: "weather", description: "tells it", parametersJson: '{"type":"object","properties":{"z":{},"a":{}}}' },
      { name: "time" },
    ],
    toolChoice: { mode: ToolChoiceMode.NAMED, name: "weather" },
    parallelToolCalls: false,
  });
  const sent = body(request);
  expect(sent.messages).toEqual([
    { role: "system", content: "be kind" },
    { role: "user", content: "weather?" },
    {
      role: "assistant",
      content: "",
      reasoning: "hm",
      tool_calls: [
        { id: "a", type: "function", function: { name: "weather", arguments: '{"b":1, "a":2}' } },
        { id: "b", type: "function", function: { name: "time", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "rain" },
    { role: "tool", tool_call_id: "b", content: "" },
  ]);
  expect(sent).toMatchObject({
    tool_choice: { type: "function", function: { name: "weather" } },
    parallel_tool_calls: false,
    return_token_ids: true,
  });
  expect(JSON.stringify(sent.tools)).toBe(
    '[{"type":"function","function":{"name":"weather","description":"tells it","parameters":{"type":"object","properties":{"z":{},"a":{}}}}},' +
      '{"type":"function","function":{"name":"time","parameters":{"type":"object","properties":{}}}}]',
  );
});

test.each([
  [ToolChoiceMode.AUTO, "auto"],
  [ToolChoiceMode.NONE, "none"],
  [ToolChoiceMode.REQUIRED, "required"],
])("tool choice %d", (mode, choice) => {
  const messages = [{ role: Role.USER, text: "hi" }];
  expect(body(chatRequest({ messages, tools: [{ name: "f" }], toolChoice: { mode } })).tool_choice).toBe(choice);
  expect(body(chatRequest({ messages, toolChoice: { mode } }))).not.toHaveProperty("tool_choice");
});

test("refuses a tool schema that is not JSON", () => {
  const conversation = {
    messages: [{ role: Role.USER, text: "hi" }],
    tools: [{ name: "f" }, { name: "g", parametersJson: "{" }],
  };
  try {
    body(chatRequest(conversation));
    throw new Error("was taken");
  } catch (error) {
    expect(readDetail(error)).toMatchObject({
      reason: Reason.INVALID_ARGUMENT,
      parameter: "conversation.tools[1].parameters_json",
    });
  }
});

test("continues the assistant's last turn", () => {
  const request = chatRequest({
    messages: [
      { role: Role.USER, text: "hi" },
      { role: Role.ASSISTANT, text: "Hel" },
    ],
  });
  expect(body(request)).toMatchObject({ continue_final_message: true, add_generation_prompt: false });
});

test.each<[Partial<EngineRequest["recipe"]>, object | undefined]>([
  [{ mode: "default_on" }, { thinking: false, enable_thinking: false }],
  [{ mode: "default_off" }, { thinking: false, enable_thinking: false }],
  [{ mode: "always" }, undefined],
  [{ mode: "none" }, undefined],
  [{ mode: "default_on", switch: "reasoning_effort" }, undefined],
])("does not think about what is begun, where %j has a switch", (recipe, kwargs) => {
  const messages = [
    { role: Role.USER, text: "hi" },
    { role: Role.ASSISTANT, text: "Hel" },
  ];
  const whole = { mode: "none", depths: false, switch: "chat_template_kwargs", ...recipe } as const;
  expect(body(chatRequest({ messages }, { recipe: whole })).chat_template_kwargs).toEqual(kwargs);
});

test("has nothing to continue in an empty last turn", () => {
  const request = chatRequest({ messages: [{ role: Role.USER, text: "hi" }, { role: Role.ASSISTANT }] });
  expect(body(request).messages).toEqual([{ role: "user", content: "hi" }]);
  expect(body(request)).not.toHaveProperty("continue_final_message");
});

test.each<[Partial<EngineRequest>, object]>([
  [{}, {}],
  [
    { thinking: { enabled: true, deepest: false } },
    { chat_template_kwargs: { thinking: true, enable_thinking: true } },
  ],
  [
    { thinking: { enabled: false, deepest: false } },
    { chat_template_kwargs: { thinking: false, enable_thinking: false } },
  ],
  [
    { thinking: { enabled: true, deepest: true } },
    { chat_template_kwargs: { thinking: true, enable_thinking: true }, reasoning_effort: "max" },
  ],
  [
    { thinking: { enabled: true, deepest: true }, recipe: { ...plain, mode: "always", switch: "reasoning_effort" } },
    { reasoning_effort: "high" },
  ],
  [
    { thinking: { enabled: true, deepest: false }, recipe: { ...plain, mode: "always", switch: "reasoning_effort" } },
    {},
  ],
  [
    {
      thinking: { enabled: false, deepest: false },
      recipe: { ...plain, mode: "default_on", switch: "reasoning_effort" },
    },
    { reasoning_effort: "none" },
  ],
])("thinking %j", (request, fields) => {
  const { chat_template_kwargs, reasoning_effort } = body(chatRequest("hi", request));
  expect(JSON.parse(JSON.stringify({ chat_template_kwargs, reasoning_effort }))).toEqual(fields);
});

test.each([
  [vllm, undefined, undefined],
  [vllm, "priority", -1],
  [vllm, "standard", 0],
  [vllm, "flex", 1],
  [sglang, undefined, undefined],
  [sglang, "priority", 1],
  [sglang, "standard", 0],
  [sglang, "flex", -1],
] as const)("%o is told the class %s as priority %s", (dialect, priority, expected) => {
  const request = chatRequest("hi", priority && { priority });
  expect(JSON.parse(generationRequest(request, dialect, false).body).priority).toBe(expected);
});

test.each([
  { dialect: vllm, apart: true },
  { dialect: sglang, apart: true },
  { dialect: trtllm, apart: false },
])("$dialect.engine keeps accounts apart in its prefix cache, without a chat template $apart", ({ dialect, apart }) => {
  const salted = (request: EngineRequest) => JSON.parse(generationRequest(request, dialect, false).body);
  expect(salted(chatRequest("hi", { cacheSalt: "acc" })).cache_salt).toBe("acc");
  expect(salted(textRequest("hi", { cacheSalt: "acc" })).cache_salt).toBe(apart ? "acc" : undefined);
});

test.each([
  { dialect: vllm, sent: false },
  { dialect: sglang, sent: false },
  { dialect: trtllm, sent: undefined },
])("asks $dialect.engine for one call at a time by parallel_tool_calls $sent", ({ dialect, sent }) => {
  const request = chatRequest({
    messages: [{ role: Role.USER, text: "hi" }],
    tools: [{ name: "f" }],
    parallelToolCalls: false,
  });
  expect(JSON.parse(generationRequest(request, dialect, false).body).parallel_tool_calls).toBe(sent);
});
