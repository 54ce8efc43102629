import { expect, test } from "@jest/globals";
import { type Conversation, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { chatBody, refusalOf, translated } from "../samples.ts";

const tool = {
  type: "function",
  function: { name: "f", description: "d", parameters: { type: "object", b: 1, a: 2 }, strict: true },
};

function conversation(fields: object): Conversation | undefined {
  const { prompt } = translated(chatBody(fields));
  return prompt.case === "conversation" ? prompt.value : undefined;
}

test("a tool keeps its schema's key order", () => {
  expect(conversation({ tools: [tool] })?.tools).toEqual([
    {
      $typeName: "tollgate.inference.v1.Tool",
      name: "f",
      description: "d",
      parametersJson: '{"type":"object","b":1,"a":2}',
    },
  ]);
});

test("a tool may leave out description and parameters", () => {
  expect(conversation({ tools: [{ type: "function", function: { name: "f" } }] })?.tools).toMatchObject([
    { description: "", parametersJson: "" },
  ]);
});

test.each<[choice: unknown, mode: ToolChoiceMode, name: string]>([
  ["auto", ToolChoiceMode.AUTO, ""],
  ["none", ToolChoiceMode.NONE, ""],
  ["required", ToolChoiceMode.REQUIRED, ""],
  [{ type: "function", function: { name: "f" } }, ToolChoiceMode.NAMED, "f"],
])("tool_choice %j", (toolChoice, mode, name) => {
  expect(conversation({ tools: [tool], tool_choice: toolChoice })?.toolChoice).toMatchObject({ mode, name });
});

const named = (name: string) => ({ type: "function", function: { name } });
const allowed = (mode: string, ...names: string[]) => ({
  type: "allowed_tools",
  allowed_tools: { mode, tools: names.map(named) },
});

test.each<[choice: unknown, mode: ToolChoiceMode, names: string[]]>([
  [allowed("auto", "g"), ToolChoiceMode.AUTO, ["g"]],
  [allowed("required", "h", "f"), ToolChoiceMode.REQUIRED, ["f", "h"]],
])("tool_choice %j leaves the allowed tools", (toolChoice, mode, names) => {
  const asked = conversation({ tools: [tool, named("g"), named("h")], tool_choice: toolChoice });
  expect(asked?.toolChoice).toMatchObject({ mode, name: "" });
  expect(asked?.tools.map(({ name }) => name)).toEqual(names);
});

test.each([
  [{ tools: [] }],
  [{ tools: [], tool_choice: "auto" }],
  [{ tools: [], tool_choice: "none", parallel_tool_calls: true }],
  [{ tools: null, tool_choice: null }],
])("%j is nothing: engines refuse an empty list", (fields) => {
  expect(conversation(fields)).toEqual(conversation({}));
});

test("parallel_tool_calls is passed on", () => {
  expect(conversation({ tools: [tool], parallel_tool_calls: false })?.parallelToolCalls).toBe(false);
});

test.each([
  [{ tool_choice: "required" }, "tool_choice"],
  [{ tool_choice: { type: "function", function: { name: "f" } } }, "tool_choice.function.name"],
  [{ tools: [tool], tool_choice: { type: "function", function: { name: "g" } } }, "tool_choice.function.name"],
  [{ tools: [tool], tool_choice: { type: "custom" } }, "tool_choice.type"],
  [{ tools: [tool], tool_choice: { type: "allowed_tools" } }, "tool_choice.allowed_tools"],
  [{ tools: [tool], tool_choice: allowed("always", "f") }, "tool_choice.allowed_tools.mode"],
  [{ tools: [tool], tool_choice: allowed("auto") }, "tool_choice.allowed_tools.tools"],
  [{ tools: [tool], tool_choice: allowed("auto", "f", "g") }, "tool_choice.allowed_tools.tools[1].function.name"],
  [{ tool_choice: allowed("auto", "f") }, "tool_choice.allowed_tools.tools[0].function.name"],
  [{ tools: [tool, { type: "custom", custom: {} }] }, "tools[1].type"],
  [{ tools: [tool, { type: "function", function: { name: "" } }] }, "tools[1].function.name"],
  [{ tools: [{ type: "function", function: { name: "f", parameters: "{}" } }] }, "tools[0].function.parameters"],
  [{ tools: [{ name: "f" }] }, "tools[0].type"],
])("%j is refused at %s", (fields, param) => {
  expect(refusalOf(chatBody(fields)).startsWith(`400 ${param}: ${param} `)).toBe(true);
});
