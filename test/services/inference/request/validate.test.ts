import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ConversationSchema, Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { validateConversation } from "#src/services/inference/request/validate.ts";

type Init = MessageInitShape<typeof ConversationSchema>;
const user = { role: Role.USER, text: "hello" };

function parameterOf(init: Init): string | undefined {
  try {
    validateConversation(create(ConversationSchema, init));
  } catch (error) {
    return readDetail(error)?.parameter;
  }
  return undefined;
}

test.each<[string, Init]>([
  ["a conversation", { messages: [user] }],
  ["a tool result", { messages: [user, { role: Role.TOOL, toolCallId: "1", text: "" }] }],
  [
    "a named tool",
    {
      messages: [user],
      tools: [{ name: "f" }],
      toolChoice: { mode: ToolChoiceMode.NAMED, name: "f" },
    },
  ],
])("takes %s", (_, init) => {
  expect(parameterOf(init)).toBeUndefined();
});

test.each<[string, Init]>([
  ["conversation.messages[1].tool_call_id", { messages: [user, { role: Role.TOOL }] }],
  ["conversation.tool_choice.name", { messages: [user], toolChoice: { mode: ToolChoiceMode.NAMED, name: "f" } }],
  ["conversation.tool_choice", { messages: [user], toolChoice: { mode: ToolChoiceMode.REQUIRED } }],
])("refuses by %s", (parameter, init) => {
  expect(parameterOf(init)).toBe(parameter);
});
