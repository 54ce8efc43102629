import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { ChatCompletionSchema } from "#gen/tollgate/chat/v1/chat_completion_answer_pb.js";
import { ChatCompletionChunkSchema } from "#gen/tollgate/chat/v1/chat_completion_chunk_pb.js";
import {
  CreateChatCompletionRequestSchema,
  CreateChatCompletionResponseSchema,
} from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import { ChatMessageSchema } from "#gen/tollgate/chat/v1/chat_message_pb.js";
import { EmbeddingVectorSchema } from "#gen/tollgate/chat/v1/embedding_pb.js";
import { KeySettingsSchema } from "#gen/tollgate/chat/v1/key_status_pb.js";
import { GetModelResponseSchema } from "#gen/tollgate/chat/v1/model_pb.js";
import { jsonDecoder } from "../../../../facades/http/json/decoder.ts";
import { jsonEncoder } from "../../../../facades/http/json/encoder.ts";

test("implicit fields are always written, optional ones when set, nullable ones as null", () => {
  const write = jsonEncoder(ChatCompletionSchema);
  const choices = [{ message: { role: "assistant" } }];
  expect(write(create(ChatCompletionSchema, { id: "i", choices }))).toBe(
    '{"id":"i","object":"","created":0,"model":"","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null},"logprobs":null}]}',
  );
  expect(jsonEncoder(ChatCompletionChunkSchema)(create(ChatCompletionChunkSchema, {}))).toBe(
    '{"id":"","object":"","created":0,"model":"","choices":[]}',
  );
});

test("a tagged union stands beside its tag", () => {
  const write = jsonEncoder(ChatMessageSchema);
  const content = { form: { case: "text" as const, value: 'a"\n\u2028' } };
  expect(write(create(ChatMessageSchema, { turn: { case: "user", value: { content } } }))).toBe(
    JSON.stringify({ role: "user", content: 'a"\n\u2028' }),
  );
});

test("an untagged union is the member that is set", () => {
  const write = jsonEncoder(EmbeddingVectorSchema);
  expect(write(create(EmbeddingVectorSchema, { form: { case: "base64", value: "AA==" } }))).toBe('"AA=="');
  const numbers = [0, -0.5, 1e-7, Number.NaN];
  expect(write(create(EmbeddingVectorSchema, { form: { case: "numbers", value: { numbers } } }))).toBe(
    "[0,-0.5,1e-7,null]",
  );
  expect(() => write(create(EmbeddingVectorSchema))).toThrow("no member of the union is set");
});

test("a union of one is its member; a key may differ from the field's name", () => {
  const write = jsonEncoder(GetModelResponseSchema);
  expect(
    JSON.parse(write(create(GetModelResponseSchema, { value: { case: "model", value: { id: "m" } } }))),
  ).toMatchObject({ id: "m" });
  expect(jsonEncoder(KeySettingsSchema)(create(KeySettingsSchema, { maxRpm: 60 }))).toBe('{"maxRpm":60}');
});

test("what is written is JSON, whatever the text", () => {
  const write = jsonEncoder(CreateChatCompletionResponseSchema);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (content, reasoning) => {
      const choices = [{ delta: { content, reasoning } }];
      const chunk = create(CreateChatCompletionResponseSchema, { form: { case: "chunk", value: { choices } } });
      expect(JSON.parse(write(chunk)).choices[0].delta).toEqual({ content, reasoning });
    }),
  );
});

test("what was read is written as it came", () => {
  const body = {
    model: "m",
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: [{ type: "text", text: "t" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "c", content: "r" },
    ],
    temperature: 0.5,
    max_tokens: 5,
    stop: ["a"],
    tools: [{ type: "function", function: { name: "f", parameters: { b: [1], a: null } } }],
    tool_choice: { type: "function", function: { name: "f" } },
    reasoning: { effort: "high", exclude: true },
  };
  const text = jsonEncoder(CreateChatCompletionRequestSchema)(jsonDecoder(CreateChatCompletionRequestSchema)(body));
  const { messages, ...rest } = JSON.parse(text);
  expect({ ...rest, messages: body.messages }).toMatchObject(body);
  expect(messages).toMatchObject([body.messages[0], body.messages[1], { role: "assistant" }, body.messages[3]]);
});
