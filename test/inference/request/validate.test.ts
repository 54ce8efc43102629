import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { GenerateRequestSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { detailOf } from "../../../lib/errors/detail.ts";
import { validate } from "../../../src/inference/request/validate.ts";

type Init = MessageInitShape<typeof GenerateRequestSchema>;
const user = { role: Role.USER, text: "hello" };
const conversation = (value: object) => ({ prompt: { case: "conversation", value } }) as Init;

function parameterOf(init: Init): string | undefined {
  try {
    validate(create(GenerateRequestSchema, init));
  } catch (error) {
    return detailOf(error)?.parameter;
  }
  return undefined;
}

test.each<[string, Init]>([
  ["a conversation", conversation({ messages: [user] })],
  ["a text", { prompt: { case: "text", value: "Once" } }],
  ["a tool result", conversation({ messages: [user, { role: Role.TOOL, toolCallId: "1", text: "" }] })],
  [
    "a named tool",
    conversation({
      messages: [user],
      tools: [{ name: "f" }],
      toolChoice: { mode: ToolChoiceMode.NAMED, name: "f" },
    }),
  ],
])("takes %s", (_, init) => {
  expect(parameterOf(init)).toBeUndefined();
});

test.each<[string, Init]>([
  ["prompt", {}],
  ["text", { prompt: { case: "text", value: "" } }],
  ["conversation.messages", conversation({ messages: [] })],
  ["conversation.messages[1].role", conversation({ messages: [user, {}] })],
  ["conversation.messages[1].tool_call_id", conversation({ messages: [user, { role: Role.TOOL }] })],
  ["conversation.tools[1].name", conversation({ messages: [user], tools: [{ name: "f" }, {}] })],
  [
    "conversation.tool_choice.name",
    conversation({ messages: [user], toolChoice: { mode: ToolChoiceMode.NAMED, name: "f" } }),
  ],
  ["conversation.tool_choice", conversation({ messages: [user], toolChoice: { mode: ToolChoiceMode.REQUIRED } })],
  ["max_output_tokens", { ...conversation({ messages: [user] }), maxOutputTokens: 0 }],
  ["stop_sequences", { ...conversation({ messages: [user] }), stopSequences: Array(17).fill("x") }],
  ["stop_sequences[1]", { ...conversation({ messages: [user] }), stopSequences: ["x", ""] }],
])("refuses by %s", (parameter, init) => {
  expect(parameterOf(init)).toBe(parameter);
});
