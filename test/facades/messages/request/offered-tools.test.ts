import { expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { CountTokensRequestSchema } from "#gen/tollgate/messages/v1/count_tokens_pb.js";
import { jsonDecoder } from "../../../../facades/http/json/decoder.ts";
import { toConversation } from "../../../../facades/messages/request/conversation.ts";

const decode = jsonDecoder(CountTokensRequestSchema);
const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: "object" }, ...more });
const deferred = (name: string) => tool(name, { defer_loading: true });
const reference = (tool_name: string) => ({ type: "tool_reference", tool_name });
const add = (name: string) => ({ type: "tool_addition", tool: { type: "tool_reference", name } });
const define = (definition: object) => ({ type: "tool_addition", tool: { type: "tool_definition", definition } });
const remove = (name: string) => ({ type: "tool_removal", tool: { type: "tool_reference", name } });
const system = (...content: object[]) => ({ role: "system", content });
const hi = { role: "user", content: "Hi" };
const search = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "search", input: {} }] };
const found = (...content: object[]) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: "t1", content }],
});

function translate(tools: object[], ...messages: object[]) {
  return toConversation(decode({ model: "m", tools, messages: [hi, ...messages] }));
}

test.each<[string, object[], object[], string[]]>([
  ["a deferred tool is not offered", [tool("search"), deferred("mail")], [], ["search"]],
  [
    "a result's reference loads it, and it comes last",
    [deferred("mail"), tool("search")],
    [search, found(reference("mail"))],
    ["search", "mail"],
  ],
  [
    "the trace of another service's search loads it",
    [tool("search"), deferred("mail")],
    [
      {
        role: "assistant",
        content: [
          {
            type: "tool_search_tool_result",
            tool_use_id: "s1",
            content: { type: "tool_search_tool_search_result", tool_references: [reference("mail")] },
          },
        ],
      },
      hi,
    ],
    ["search", "mail"],
  ],
  [
    "a failed search loads nothing",
    [tool("search"), deferred("mail")],
    [
      {
        role: "assistant",
        content: [
          {
            type: "tool_search_tool_result",
            tool_use_id: "s1",
            content: { type: "tool_search_tool_result_error", error_code: "unavailable" },
          },
        ],
      },
      hi,
    ],
    ["search"],
  ],
  ["a reference to a tool that is gone", [tool("search")], [search, found(reference("mail"))], ["search"]],
  ["an addition by name", [tool("search"), deferred("mail")], [system(add("mail"))], ["search", "mail"]],
  ["an addition by definition", [tool("search")], [system(define(tool("mail")))], ["search", "mail"]],
  ["an addition without other tools", [], [system(define(deferred("mail")))], ["mail"]],
  ["a removal", [tool("search"), tool("mail")], [system(remove("search"))], ["mail"]],
  [
    "a removal that is taken back",
    [tool("search"), tool("mail")],
    [system(remove("search")), hi, system(add("search"))],
    ["mail", "search"],
  ],
  ["a removed addition", [tool("search")], [system(define(tool("mail")), remove("mail"))], ["search"]],
  [
    "removals of nothing",
    [tool("search")],
    [system(remove("mail"), { type: "tool_removal", tool: { type: "mcp_toolset_reference", server_name: "s" } })],
    ["search"],
  ],
  [
    "the changes of turns that are summarized",
    [tool("search"), deferred("mail")],
    [
      {
        role: "assistant",
        content: [{ type: "compaction", content: "We met.", tool_changes: [remove("search"), add("mail")] }],
      },
      hi,
    ],
    ["mail"],
  ],
])("%s", (_, tools, messages, expected) => {
  expect(translate(tools, ...messages).tools.map(({ name }) => name)).toEqual(expected);
});

test("a definition replaces the tool of its name", () => {
  const { tools } = translate([tool("a"), tool("b")], system(define(tool("a", { description: "New" }))));
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ["a", "New"],
    ["b", ""],
  ]);
});

test("a search's result says what it loaded", () => {
  const { messages } = translate([tool("search"), deferred("a")], search, found(reference("a"), reference("b")));
  expect(messages.at(-1)).toMatchObject({ role: Role.TOOL, toolCallId: "t1", text: "Loaded tool: a\nLoaded tool: b" });
});

test("changes of tools are no text, and text beside them stays", () => {
  const { messages } = translate(
    [tool("a")],
    system(remove("a")),
    hi,
    system(add("a"), { type: "text", text: "Use it." }),
  );
  expect(messages.map(({ role, text }) => [role, text])).toEqual([
    [Role.USER, "Hi\nHi"],
    [Role.SYSTEM, "Use it."],
  ]);
});

test("a summary of earlier turns is text", () => {
  const { messages } = translate([], { role: "assistant", content: [{ type: "compaction", content: "We met." }] }, hi);
  expect(messages[1]).toMatchObject({ role: Role.ASSISTANT, text: "We met." });
});

test.each<[string, object, string]>([
  [
    "an addition of an unknown name",
    system(add("x")),
    "messages[1].content[0].tool.name must be the name of one of the tools",
  ],
  [
    "a tool that the original service runs",
    system(define({ type: "bash_20250124", name: "bash" })),
    'messages[1].content[0].tool.definition.type must be "custom": this service runs no tools of its own',
  ],
  [
    "a server's tools",
    system({ type: "tool_addition", tool: { type: "mcp_toolset_reference", server_name: "s" } }),
    'messages[1].content[0].tool.type must be "tool_reference" or "tool_definition"; "mcp_toolset_reference" is not supported',
  ],
  [
    "a change in a user's turn",
    { role: "user", content: [remove("a")] },
    "messages[1].content[0] must not be a change of tools: only system turns change them",
  ],
])("refuses %s", (_, message, expected) => {
  expect(() => translate([tool("a")], message)).toThrow(expected);
});

test("a choice of a tool that is not offered is refused", () => {
  const body = { model: "m", tools: [deferred("a")], messages: [hi], tool_choice: { type: "tool", name: "a" } };
  expect(() => toConversation(decode({ ...body, tools: [tool("b"), deferred("a")] }))).toThrow(
    "tool_choice.name must be the name of one of the tools that are offered",
  );
});
