import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { CreateChatCompletionRequestSchema } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import { CreateEmbeddingRequestSchema } from "#gen/tollgate/chat/v1/embedding_pb.js";
import { CreateManagedKeyRequestSchema, UpdateManagedKeyRequestSchema } from "#gen/tollgate/chat/v1/managed_key_pb.js";
import { CreateMessageRequestSchema } from "#gen/tollgate/messages/v1/create_message_pb.js";
import { jsonDecoder } from "../../../../facades/http/json/decoder.ts";
import { RequestError } from "../../../../facades/http/request/error.ts";
import { fuzzing } from "../../../support/fuzz.ts";

const decodeChat = jsonDecoder(CreateChatCompletionRequestSchema);
const decodeEmbedding = jsonDecoder(CreateEmbeddingRequestSchema);
const decodeMessage = jsonDecoder(CreateMessageRequestSchema);

const chat = (more: object = {}) => ({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
const turn = (message: object) => chat({ messages: [{ role: "user", content: "hi" }, message] });

/** What a decoder refuses, as its path and message. */
function refusal(decode: (json: unknown) => unknown, json: unknown): { param: string; message: string } {
  try {
    decode(json);
  } catch (error) {
    if (error instanceof RequestError) {
      return { param: error.param, message: error.message };
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("refusals name the field in the caller's terms", () => {
  test.each<[body: unknown, param: string, message: string]>([
    [[], "", "The body must be an object."],
    ["text", "", "The body must be an object."],
    [null, "", "The body must be an object."],
    [{}, "model", "model is required."],
    [{ model: null }, "model", "model is required."],
    [chat({ model: 5 }), "model", "model must be a string."],
    [chat({ model: "" }), "model", "model must not be empty."],
    [chat({ messages: "hi" }), "messages", "messages must be an array."],
    [chat({ messages: [] }), "messages", "messages must not be empty."],
    [chat({ messages: [null] }), "messages[0]", "messages[0] must be an object."],
    [chat({ messages: [{ content: "hi" }] }), "messages[0].role", "messages[0].role is required."],
    [
      turn({ role: "function" }),
      "messages[1].role",
      'messages[1].role must be "system", "developer", "user", "assistant" or "tool"; "function" is not supported.',
    ],
    [
      turn({ role: 7 }),
      "messages[1].role",
      'messages[1].role must be "system", "developer", "user", "assistant" or "tool".',
    ],
    [turn({ role: "user" }), "messages[1].content", "messages[1].content is required."],
    [turn({ role: "user", content: 5 }), "messages[1].content", "messages[1].content must be a string or an array."],
    [
      turn({
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: {} },
        ],
      }),
      "messages[1].content[1].type",
      'messages[1].content[1].type must be "text"; "image_url" is not supported.',
    ],
    [
      turn({ role: "user", content: [{ type: "text" }] }),
      "messages[1].content[0].text",
      "messages[1].content[0].text is required.",
    ],
    [turn({ role: "tool", content: "x" }), "messages[1].tool_call_id", "messages[1].tool_call_id is required."],
    [chat({ temperature: "1" }), "temperature", "temperature must be a number."],
    [chat({ temperature: 2.1 }), "temperature", "temperature must be at most 2."],
    [chat({ temperature: -1 }), "temperature", "temperature must be at least 0."],
    [chat({ max_tokens: 1.5 }), "max_tokens", "max_tokens must be an integer."],
    [chat({ max_tokens: 0 }), "max_tokens", "max_tokens must be at least 1."],
    [chat({ n: 2 }), "n", "n must be 1."],
    [chat({ n: 0 }), "n", "n must be 1."],
    [chat({ stream: "yes" }), "stream", "stream must be a boolean."],
    [chat({ stop: 5 }), "stop", "stop must be a string or an array."],
    [chat({ stop: Array(17).fill("a") }), "stop", "stop must have at most 16 items."],
    [chat({ stop: ["a", 5] }), "stop[1]", "stop[1] must be a string."],
    [chat({ tools: [{ type: "function" }] }), "tools[0].function", "tools[0].function is required."],
    [
      chat({ tools: [{ type: "function", function: {} }] }),
      "tools[0].function.name",
      "tools[0].function.name is required.",
    ],
    [
      chat({ tools: [{ type: "web_search" }] }),
      "tools[0].type",
      'tools[0].type must be "function"; "web_search" is not supported.',
    ],
    [chat({ tool_choice: "any" }), "tool_choice", 'tool_choice must be "auto", "none" or "required".'],
    [
      chat({ reasoning_effort: "huge" }),
      "reasoning_effort",
      'reasoning_effort must be "none", "minimal", "low", "medium", "high", "xhigh" or "max".',
    ],
    [chat({ audio: {} }), "audio", "audio is not supported: this service reads and writes text only."],
    [chat({ functions: [] }), "functions", "functions is not supported; use tools."],
  ])("%j", (body, param, message) => {
    expect(refusal(decodeChat, body)).toEqual({ param, message });
  });

  test.each<[body: Record<string, unknown>, param: string, message: string]>([
    [{ input: [] }, "input", "input must not be empty."],
    [{ input: "" }, "input", "input must not be empty."],
    [{ input: ["a", ""] }, "input[1]", "input[1] must not be empty."],
    [{ input: Array(2049).fill("a") }, "input", "input must have at most 2048 items."],
    [
      { input: "a", dimensions: 256 },
      "dimensions",
      "dimensions is not supported: the vectors of a model have a fixed number of dimensions; leave it out.",
    ],
    [{ input: "a", encoding_format: "hex" }, "encoding_format", 'encoding_format must be "float" or "base64".'],
  ])("embeddings %#", (body, param, message) => {
    expect(refusal(decodeEmbedding, { model: "m", ...body })).toEqual({ param, message });
  });

  test.each([[[[1, 2, 3]]], [[1, 2, 3]]])("token arrays %j are refused with advice", (input) => {
    const { param, message } = refusal(decodeEmbedding, { model: "m", input });
    expect(param).toBe("input[0]");
    expect(message).toContain("check_embedding_ctx_length=False");
  });
});

test("an absent field is a default, and null is absent", () => {
  const nothing = {
    temperature: null,
    tools: null,
    stop: null,
    reasoning_effort: null,
    stream_options: null,
    audio: null,
  };
  const decoded = decodeChat(chat(nothing));
  expect(decoded).toEqual(decodeChat(chat()));
  expect(decoded).toMatchObject({ model: "m", tools: [], modalities: [], reasoningEffort: 0 });
  expect("temperature" in decoded).toBe(false);
});

test("unknown keys are ignored, whatever they hold", () => {
  const more = {
    metadata: { a: [1] },
    store: true,
    cache_control: {},
    nonsense: [[[]]],
  };
  expect(decodeChat(chat(more))).toEqual(decodeChat(chat()));
  expect(
    decodeChat(
      JSON.parse('{"__proto__":{"model":"x"},"constructor":1,"model":"m","messages":[{"role":"user","content":"hi"}]}'),
    ),
  ).toEqual(decodeChat(chat()));
});

test("JSON text keeps its key order and may be of any kind", () => {
  const parameters = {
    type: "object",
    properties: { zeta: {}, alpha: { enum: ["é", 1, null] } },
    additionalProperties: false,
  };
  const { tools } = decodeChat(chat({ tools: [{ type: "function", function: { name: "f", parameters } }] }));
  expect(tools[0]?.kind.value?.function?.parameters).toBe(JSON.stringify(parameters));
});

test("numbers beyond 64 bits are bounded, not wrapped", () => {
  expect(decodeChat(chat({ max_tokens: 1e300, seed: -1e300 }))).toMatchObject({
    maxTokens: 9223372036854774784n,
    seed: -9223372036854774784n,
  });
});

test("half a surrogate pair becomes a replacement character", () => {
  const { messages } = decodeChat(chat({ messages: [{ role: "user", content: "a\ud83d" }] }));
  expect(messages[0]?.turn.value?.content?.form.value).toBe("a\ufffd");
});

describe("limits", () => {
  const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth));

  test("of what is passed on as it is", () => {
    const body = (parameters: unknown) => chat({ tools: [{ type: "function", function: { name: "f", parameters } }] });
    expect(() => decodeChat(body({ a: nested(100) }))).not.toThrow();
    expect(refusal(decodeChat, body({ a: nested(200_000) })).param).toBe("tools[0].function.parameters");
  });

  test("of what is ignored there are none", () => {
    expect(() => decodeChat(chat({ other: nested(200_000) }))).not.toThrow();
  });

  test("of messages within messages", () => {
    let content: unknown = "x";
    for (let i = 0; i < 1000; i++) {
      content = [{ type: "tool_result", tool_use_id: "t", content }];
    }
    const { message } = refusal(decodeMessage, { model: "m", max_tokens: 1, messages: [{ role: "user", content }] });
    expect(message).toMatch(/must not be nested deeper/);
  });

  test("of items", () => {
    const messages = Array(10_001).fill({ role: "user", content: "" });
    expect(refusal(decodeChat, chat({ messages }))).toEqual({
      param: "messages",
      message: "messages must have at most 10000 items.",
    });
  });
});

/** Bodies that look like requests here and there, with anything in between. */
const anyBody = fc.letrec((tie) => ({
  body: fc.dictionary(
    fc.constantFrom("model", "messages", "max_tokens", "tools", "tool_choice", "stop", "input", "system", "thinking"),
    tie("value"),
  ),
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: "body" },
    fc.constantFrom(
      "user",
      "assistant",
      "text",
      "function",
      "tool_use",
      "tool_result",
      "",
      null,
      0,
      -1,
      Number.POSITIVE_INFINITY,
      true,
    ),
    fc.jsonValue({ maxDepth: 2 }),
    fc.dictionary(
      fc.constantFrom("role", "content", "type", "text", "tool_calls", "function", "name", "arguments", "parameters"),
      tie("value"),
      { maxKeys: 4, depthIdentifier: "body" },
    ),
    fc.array(tie("value"), { maxLength: 3, depthIdentifier: "body" }),
  ),
})).body;

test.each([
  ["chat", decodeChat],
  ["embeddings", decodeEmbedding],
  ["messages", decodeMessage],
])("any %s body decodes, or is refused with a path", (_name, decode: (json: unknown) => unknown) => {
  fc.assert(
    fc.property(fc.oneof(anyBody, fc.jsonValue()), (json) => {
      try {
        decode(json);
      } catch (error) {
        expect(error).toBeInstanceOf(RequestError);
        expect((error as RequestError).status).toBe(400);
        const { param, message } = error as RequestError;
        expect(message.startsWith(param === "" ? "The body " : `${param} `)).toBe(true);
      }
    }),
    fuzzing(500),
  );
});

test("null clears what a field says it clears, and is apart from what is left out", () => {
  const decode = jsonDecoder(UpdateManagedKeyRequestSchema);
  const { hash, ...cleared } = decode({ hash: "h", name: null, disabled: null, limit: null, limit_reset: null });
  expect({ hash, cleared }).toMatchObject({ hash: "h", cleared: { limit: "", limitReset: 0 } });
  expect(cleared).not.toHaveProperty("name");
  expect(decode({ hash: "h" })).not.toHaveProperty("limit");
});

test("JSON that is passed on as text keeps the digits of its numbers, wherever it stands", () => {
  const input = '{"id":9007199254740993,"deep":[{"huge":1e400,"fine":3.14159265358979323846}],"text":"ü"}';
  const body = `{"model":"m","max_tokens":12345678901234567890,"messages":[
    {"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"f","input": ${input}}]}
  ],"tools":[{"name":"f","input_schema":{"type":"integer","minimum":-9007199254740993}}]}`;
  const { messages, tools, maxTokens } = decodeMessage(JSON.parse(body), body);
  expect(tools[0]?.inputSchema).toBe('{"type":"integer","minimum":-9007199254740993}');
  expect(JSON.stringify(messages)).toContain(JSON.stringify(input));
  expect(maxTokens).toBe(2 ** 32 - 1);
  const chat =
    '{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[9007199254740993]}}}]}';
  expect(JSON.stringify(decodeChat(JSON.parse(chat), chat))).toContain(JSON.stringify('{"enum":[9007199254740993]}'));
});

test("of equal keys the last one counts, with its digits too", () => {
  const tool = '{"name":"f","input_schema":{"id":1},"input_schema":{"id":9007199254740993}}';
  const body = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"Hi"}],"tools":[${tool}]}`;
  expect(decodeMessage(JSON.parse(body), body).tools[0]?.inputSchema).toBe('{"id":9007199254740993}');
});

test("a number whose text counts keeps its digits, and nothing else may stand there", () => {
  const decode = jsonDecoder(CreateManagedKeyRequestSchema);
  const read = (limit: string) => {
    const body = `{"name":"n","limit":${limit}}`;
    return decode(JSON.parse(body), body).limit;
  };
  for (const limit of [
    "9007.1992547409915",
    "1234567.000000000001",
    "0.10000000000000001",
    "1e-400",
    "1e400",
    "-0.5",
  ]) {
    expect(read(limit)).toBe(limit);
  }
  expect([read("5.0"), read("25e-2"), read("null")]).toEqual(["5", "0.25", ""]);
  for (const limit of ['"5"', "true", "[5]", "{}"]) {
    const wrong = { param: "limit", message: "limit must be a number." };
    expect(refusal(decode, JSON.parse(`{"name":"n","limit":${limit}}`))).toEqual(wrong);
  }
});
