import { expect, test } from "@jest/globals";
import { type Message, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { chatBody, refusalOf, translated } from "../samples.ts";

const user = { role: "user", content: "hi" };

/** The second turn of a conversation as the core gets it. */
function turn(message: object): Message | undefined {
  const { prompt } = translated(chatBody({ messages: [user, message] }));
  return prompt.case === "conversation" ? prompt.value.messages[1] : undefined;
}

const call = { id: "c1", type: "function", function: { name: "f", arguments: '{"b":1, "a":2}' } };

test.each<[message: object, expected: Partial<Message>]>([
  [
    { role: "system", content: "s" },
    { role: Role.SYSTEM, text: "s" },
  ],
  [
    { role: "developer", content: "d" },
    { role: Role.SYSTEM, text: "d" },
  ],
  [
    { role: "user", content: "" },
    { role: Role.USER, text: "" },
  ],
  [
    { role: "user", name: "Ann", content: "x" },
    { role: Role.USER, text: "x" },
  ],
  [
    {
      role: "user",
      content: [
        { type: "text", text: "a", cache_control: {} },
        { type: "text", text: "b" },
      ],
    },
    { text: "a\nb" },
  ],
  [{ role: "user", content: [] }, { text: "" }],
  [
    { role: "assistant", content: "x" },
    { role: Role.ASSISTANT, text: "x", toolCalls: [] },
  ],
  [{ role: "assistant", content: [{ type: "text", text: "x" }] }, { text: "x" }],
  [{ role: "assistant", content: null }, { text: "" }],
  [{ role: "assistant", content: "" }, { text: "" }],
  [{ role: "assistant" }, { text: "", reasoning: "", toolCalls: [] }],
  [{ role: "assistant", content: "x", tool_calls: [], refusal: null, audio: null }, { toolCalls: [] }],
  [{ role: "assistant", content: null, refusal: "No." }, { text: "No." }],
  [
    {
      role: "assistant",
      content: [
        { type: "text", text: "x" },
        { type: "refusal", refusal: "No." },
      ],
    },
    { text: "x\nNo." },
  ],
  [{ role: "assistant", content: "x", reasoning: "r" }, { reasoning: "r" }],
  [{ role: "assistant", content: "x", reasoning_content: "r" }, { reasoning: "r" }],
  [{ role: "assistant", content: "x", reasoning: "r", reasoning_content: "q" }, { reasoning: "r" }],
  [
    { role: "tool", tool_call_id: "c1", content: "r" },
    { role: Role.TOOL, toolCallId: "c1", text: "r" },
  ],
  [{ role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "r" }] }, { text: "r" }],
  [{ role: "tool", tool_call_id: "c1", content: null }, { text: "" }],
])("%j", (message, expected) => {
  expect(turn(message)).toMatchObject(expected);
});

test("calls keep their arguments byte for byte", () => {
  expect(turn({ role: "assistant", content: null, tool_calls: [call] })?.toolCalls).toEqual([
    { $typeName: "tollgate.inference.v1.ToolCall", id: "c1", name: "f", argumentsJson: '{"b":1, "a":2}' },
  ]);
});

test.each([
  ["", "{}"],
  [" ", "{}"],
  [null, "{}"],
  ["{}", "{}"],
  // What a model wrote wrongly: clients send it back with the error that they met.
  ['{"a": "x', '{"INVALID_JSON":"{\\"a\\": \\"x"}'],
  ["{", '{"INVALID_JSON":"{"}'],
  ["[1]", '{"INVALID_JSON":"[1]"}'],
  ["null", '{"INVALID_JSON":"null"}'],
])("arguments %j are %s", (given, expected) => {
  const toolCalls = [{ id: "c1", function: { name: "f", arguments: given } }];
  expect(turn({ role: "assistant", tool_calls: toolCalls })?.toolCalls[0]?.argumentsJson).toBe(expected);
});

test.each([
  [{ role: "assistant", tool_calls: [{ id: "c1" }] }, "messages[1].tool_calls[0].function"],
  [{ role: "assistant", tool_calls: [{ function: { name: "f" } }] }, "messages[1].tool_calls[0].id"],
  [{ role: "tool", content: "r" }, "messages[1].tool_call_id"],
  [{ role: "user", content: null }, "messages[1].content"],
  [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:" } }] }, "messages[1].content[0].type"],
  [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }, "messages[1].content[0].type"],
  [{ role: "user", content: [{ type: "file", file: {} }] }, "messages[1].content[0].type"],
  [{ role: "user", content: [{ text: "x" }] }, "messages[1].content[0].type"],
  [{ role: "function", name: "f", content: "r" }, "messages[1].role"],
])("%j is refused at %s", (message, param) => {
  expect(refusalOf(chatBody({ messages: [user, message] })).startsWith(`400 ${param}: ${param} `)).toBe(true);
});
