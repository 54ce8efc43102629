import { expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { CountTokensRequestSchema } from "#gen/tollgate/messages/v1/count_tokens_pb.js";
import { jsonDecoder } from "../../../../facades/http/json/decoder.ts";
import { toConversation } from "../../../../facades/messages/request/conversation.ts";

const decode = jsonDecoder(CountTokensRequestSchema);

/** The turns, without the fields that are empty. */
function turns(messages: object[], system?: unknown) {
  return toConversation(decode({ model: "m", messages, system })).messages.map(
    ({ role, text, reasoning, toolCalls, toolCallId }) => ({
      role,
      ...(text !== "" && { text }),
      ...(reasoning !== "" && { reasoning }),
      ...(toolCalls.length > 0 && {
        calls: toolCalls.map((call) => [call.id, call.name, call.argumentsJson]),
      }),
      ...(toolCallId !== "" && { toolCallId }),
    }),
  );
}

const user = (text: string) => ({ role: Role.USER, text });
const text = (value: string) => ({ type: "text", text: value });
const cached = { cache_control: { type: "ephemeral", ttl: "1h" } };
const call = { type: "tool_use", id: "t1", name: "weather", input: { city: "Paris" } };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };

test.each([
  ["a string", "Be brief.", "Be brief."],
  ["blocks", [{ ...text("Be brief."), ...cached }, text(""), text("Be kind.")], "Be brief.\nBe kind."],
  ["a billing header as a block", [text("x-anthropic-billing-header: cc_version=2; cch=ab12c;"), text("Be.")], "Be."],
  ["a billing header as a line", "x-anthropic-billing-header: cc_version=2;\nBe.", "Be."],
])("system: %s", (_, system, expected) => {
  expect(turns([{ role: "user", content: "Hi" }], system)).toEqual([{ role: Role.SYSTEM, text: expected }, user("Hi")]);
});

test.each([undefined, null, "", [], [text("")], "x-anthropic-billing-header: a"])("system: none in %j", (system) => {
  expect(turns([{ role: "user", content: "Hi" }], system)).toEqual([user("Hi")]);
});

test.each<[string, object[], object[]]>([
  ["a string", [{ role: "user", content: "Hi" }], [user("Hi")]],
  [
    "text blocks, empty ones dropped",
    [{ role: "user", content: [{ ...text("Hi"), ...cached }, text(""), text("there")] }],
    [user("Hi\nthere")],
  ],
  [
    "unknown keys",
    [{ role: "user", content: [{ ...text("Hi"), citations: null, x: 1 }], name: "Ann", id: "msg_1" }],
    [user("Hi")],
  ],
  ["an empty user turn", [{ role: "user", content: [] }], [{ role: Role.USER }]],
  [
    "system in the middle, in place",
    [
      { role: "user", content: "Hi" },
      { role: "system", content: "Now in French." },
      { role: "assistant", content: "Salut" },
      { role: "system", content: [text("And"), text("short.")] },
      { role: "system", content: "" },
      { role: "user", content: "Go" },
    ],
    [
      user("Hi"),
      { role: Role.SYSTEM, text: "Now in French." },
      { role: Role.ASSISTANT, text: "Salut" },
      { role: Role.SYSTEM, text: "And\nshort." },
      user("Go"),
    ],
  ],
  [
    "an answer given back: thinking of any signature, text, calls",
    [
      { role: "user", content: "Weather?" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Paris, ", signature: "abc" },
          { type: "thinking", thinking: "I guess.", signature: "" },
          { type: "thinking", thinking: " Yes." },
          { type: "redacted_thinking", data: "xyz" },
          text("Let me "),
          text("look."),
          { ...call, ...cached, caller: { type: "direct" } },
          { type: "tool_use", id: "t2", name: "now", input: {} },
          { type: "tool_use", id: "t3", name: "now" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "Rain" }] },
    ],
    [
      user("Weather?"),
      {
        role: Role.ASSISTANT,
        reasoning: "Paris, I guess. Yes.",
        text: "Let me look.",
        calls: [
          ["t1", "weather", '{"city":"Paris"}'],
          ["t2", "now", "{}"],
          ["t3", "now", "{}"],
        ],
      },
      { role: Role.TOOL, toolCallId: "t1", text: "Rain" },
    ],
  ],
  [
    "arguments keep their key order",
    [
      { role: "assistant", content: [{ ...call, input: { z: 1, a: { y: [], b: null } } }] },
      { role: "user", content: "?" },
    ],
    [{ role: Role.ASSISTANT, calls: [["t1", "weather", '{"z":1,"a":{"y":[],"b":null}}']] }, user("?")],
  ],
  [
    "tool results of every form, before what the user says beside them",
    [
      { role: "assistant", content: [1, 2, 3, 4, 5, 6].map((number) => ({ ...call, id: `t${number}` })) },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: "Rain", ...cached },
          text("And now?"),
          { type: "tool_result", tool_use_id: "t2", content: [text("a"), { ...text("b"), ...cached }] },
          { type: "tool_result", tool_use_id: "t3" },
          { type: "tool_result", tool_use_id: "t4", content: "No such city", is_error: true },
          { type: "tool_result", tool_use_id: "t5", content: null, is_error: false },
          { type: "tool_result", tool_use_id: "t6", content: [{ type: "tool_reference", tool_name: "x" }] },
        ],
      },
    ],
    [
      {
        role: Role.ASSISTANT,
        calls: [1, 2, 3, 4, 5, 6].map((number) => [`t${number}`, "weather", '{"city":"Paris"}']),
      },
      { role: Role.TOOL, toolCallId: "t1", text: "Rain" },
      { role: Role.TOOL, toolCallId: "t2", text: "a\nb" },
      { role: Role.TOOL, toolCallId: "t3" },
      { role: Role.TOOL, toolCallId: "t4", text: "Error: No such city" },
      { role: Role.TOOL, toolCallId: "t5" },
      { role: Role.TOOL, toolCallId: "t6", text: "Loaded tool: x" },
      user("And now?"),
    ],
  ],
  [
    "turns of one speaker in a row become one",
    [
      { role: "user", content: "Hi" },
      { role: "user", content: [text("Weather?")] },
      { role: "assistant", content: [{ type: "thinking", thinking: "Hm." }] },
      { role: "assistant", content: "Let me " },
      { role: "assistant", content: [text("look."), call, { ...call, id: "t2" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "Rain" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t2", content: "Sun" }, text("Well?")] },
      { role: "user", content: "Hm?" },
    ],
    [
      user("Hi\nWeather?"),
      {
        role: Role.ASSISTANT,
        reasoning: "Hm.",
        text: "Let me look.",
        calls: [
          ["t1", "weather", '{"city":"Paris"}'],
          ["t2", "weather", '{"city":"Paris"}'],
        ],
      },
      { role: Role.TOOL, toolCallId: "t1", text: "Rain" },
      { role: Role.TOOL, toolCallId: "t2", text: "Sun" },
      user("Well?\nHm?"),
    ],
  ],
  [
    "a prefill stays last",
    [
      { role: "user", content: "A or B?" },
      { role: "assistant", content: "The answer is (" },
    ],
    [user("A or B?"), { role: Role.ASSISTANT, text: "The answer is (" }],
  ],
  [
    "an assistant turn of nothing",
    [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [text("")] },
      { role: "assistant", content: "" },
    ],
    [user("Hi")],
  ],
  [
    "traces of another service's tools",
    [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
          { type: "web_search_tool_result", tool_use_id: "s1", content: [{ type: "web_search_result", url: "u" }] },
          { type: "web_fetch_tool_result", tool_use_id: "s1", content: {} },
          { type: "code_execution_tool_result", tool_use_id: "s1", content: {} },
          { type: "bash_code_execution_tool_result", tool_use_id: "s1", content: {} },
          { type: "text_editor_code_execution_tool_result", tool_use_id: "s1", content: {} },
          { type: "tool_search_tool_result", tool_use_id: "s1", content: {} },
          { type: "mcp_tool_use", id: "s1", name: "x", server_name: "y", input: {} },
          { type: "mcp_tool_result", tool_use_id: "s1", is_error: false, content: [] },
          text("Found."),
        ],
      },
      { role: "user", content: "Go" },
    ],
    [user("Hi"), { role: Role.ASSISTANT, text: "Found." }, user("Go")],
  ],
])("turns: %s", (_, messages, expected) => {
  expect(turns(messages)).toEqual(expected);
});

test("a system turn is shown until the next user's turn, if it says so", () => {
  const hint = (clear_at: string | null) => ({ role: "system", content: clear_at ?? "null", clear_at });
  const messages = [{ role: "user", content: "Hi" }, hint("next_user_message"), hint("never"), hint(null)];
  const kept = ["never", "null"].map((said) => ({ role: Role.SYSTEM, text: said }));
  expect(turns(messages)).toEqual([user("Hi"), { role: Role.SYSTEM, text: "next_user_message" }, ...kept]);
  expect(turns([...messages, { role: "user", content: "Go" }])).toEqual([user("Hi"), ...kept, user("Go")]);
});

test("a system turn may have no content", () => {
  expect(
    turns([
      { role: "user", content: "Hi" },
      { role: "system", output_config: {} },
    ]),
  ).toEqual([user("Hi")]);
});

test.each<[object, string]>([
  [{ role: "tool", content: "x" }, "messages[0].role"],
  [{ role: "developer", content: "x" }, "messages[0].role"],
  [{ content: "x" }, "messages[0].role"],
  [{ role: "user" }, "messages[0].content"],
  [{ role: "user", content: null }, "messages[0].content"],
  [{ role: "user", content: 7 }, "messages[0].content"],
  [{ role: "user", content: ["x"] }, "messages[0].content[0]"],
  [{ role: "user", content: [text("x"), image] }, "messages[0].content[1]"],
  [{ role: "user", content: [{ type: "document", source: {} }] }, "messages[0].content[0]"],
  [{ role: "user", content: [{ type: "search_result", source: "u" }] }, "messages[0].content[0]"],
  [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }, "messages[0].content[0]"],
  [{ role: "user", content: [{ type: "input_audio" }] }, "messages[0].content[0].type"],
  [{ role: "user", content: [{ text: "x" }] }, "messages[0].content[0].type"],
  [{ role: "user", content: [{ type: "text" }] }, "messages[0].content[0].text"],
  [
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [text("x"), image] }] },
    "messages[0].content[0].content[1]",
  ],
  [{ role: "user", content: [{ type: "tool_result", content: "x" }] }, "messages[0].content[0].tool_use_id"],
  [{ role: "user", content: [{ type: "tool_result", tool_use_id: "t" }] }, "messages[0].content[0].tool_use_id"],
  [{ role: "user", content: [call] }, "messages[0].content[0]"],
  [{ role: "system", content: [call] }, "messages[0].content[0]"],
  [{ role: "assistant", content: [{ type: "tool_result", tool_use_id: "t" }] }, "messages[0].content[0]"],
  [{ role: "assistant", content: [{ ...call, id: undefined }] }, "messages[0].content[0].id"],
  [{ role: "assistant", content: [{ ...call, name: null }] }, "messages[0].content[0].name"],
  [{ role: "assistant", content: [{ ...call, input: "Paris" }] }, "messages[0].content[0].input"],
  [{ role: "assistant", content: [{ ...call, input: ["Paris"] }] }, "messages[0].content[0].input"],
  [{ role: "system", content: "x" }, "messages"],
  [{ role: "assistant", content: "" }, "messages"],
])("%j is refused at %s", (message, param) => {
  expect(() => turns([message])).toThrow(expect.objectContaining({ status: 400, param }));
});

test.each([[7], [{ text: "x" }], [[image]], [["x"]]])("system %j is refused", (system) => {
  expect(() => turns([{ role: "user", content: "Hi" }], system)).toThrow(
    expect.objectContaining({ status: 400, param: expect.stringMatching(/^system/) }),
  );
});
