import { expect, test } from "@jest/globals";
import { ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { CountTokensRequestSchema } from "#gen/tollgate/messages/v1/count_tokens_pb.js";
import { jsonDecoder } from "../../../../facades/http/json/decoder.ts";
import { toConversation } from "../../../../facades/messages/request/conversation.ts";

const decode = jsonDecoder(CountTokensRequestSchema);
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { name: "weather", description: "Tells it", input_schema: schema };

function translate(fields: object) {
  return toConversation(decode({ model: "m", messages: [{ role: "user", content: "Hi" }], ...fields }));
}

test.each<[string, object, object]>([
  ["plain", weather, { name: "weather", description: "Tells it", parametersJson: JSON.stringify(schema) }],
  ["type custom", { ...weather, type: "custom" }, {}],
  ["type null", { ...weather, type: null }, {}],
  [
    "keys that are ignored",
    {
      ...weather,
      strict: true,
      defer_loading: false,
      eager_input_streaming: true,
      input_examples: [{}],
      allowed_callers: ["direct"],
      cache_control: { type: "ephemeral" },
    },
    {},
  ],
  ["no description", { ...weather, description: null }, { description: "" }],
  ["an empty schema", { ...weather, input_schema: {} }, { parametersJson: '{"type":"object"}' }],
  [
    "a schema without a type",
    { ...weather, input_schema: { properties: { b: {}, a: {} } } },
    { parametersJson: '{"properties":{"b":{},"a":{}},"type":"object"}' },
  ],
  [
    "a schema of null type",
    { ...weather, input_schema: { type: null, properties: {} } },
    { parametersJson: '{"type":"object","properties":{}}' },
  ],
  [
    "a schema that names its type late",
    { ...weather, input_schema: { $schema: "s", title: "t", type: "object" } },
    { parametersJson: '{"$schema":"s","title":"t","type":"object"}' },
  ],
  [
    "a schema that names its own schema first",
    { ...weather, input_schema: { $schema: "s", type: "object" } },
    { parametersJson: '{"$schema":"s","type":"object"}' },
  ],
  [
    "a schema that names its own schema and no type",
    { ...weather, input_schema: { $schema: "s", properties: {} } },
    { parametersJson: '{"$schema":"s","properties":{},"type":"object"}' },
  ],
])("a tool: %s", (_, tool, expected) => {
  expect(translate({ tools: [tool] }).tools).toEqual([expect.objectContaining({ name: "weather", ...expected })]);
});

test.each<[unknown, ToolChoiceMode | undefined, string, boolean | undefined]>([
  [undefined, undefined, "", undefined],
  [null, undefined, "", undefined],
  [{ type: "auto" }, ToolChoiceMode.AUTO, "", undefined],
  [{ type: "any" }, ToolChoiceMode.REQUIRED, "", undefined],
  [{ type: "none" }, ToolChoiceMode.NONE, "", undefined],
  [{ type: "tool", name: "weather" }, ToolChoiceMode.NAMED, "weather", undefined],
  [{ type: "auto", disable_parallel_tool_use: true }, ToolChoiceMode.AUTO, "", false],
  [{ type: "any", disable_parallel_tool_use: false }, ToolChoiceMode.REQUIRED, "", undefined],
])("tool choice %j", (tool_choice, mode, name, parallel) => {
  const { toolChoice, parallelToolCalls } = translate({ tools: [weather], tool_choice });
  expect(toolChoice?.mode).toBe(mode);
  expect(toolChoice?.name ?? "").toBe(name);
  expect(parallelToolCalls).toBe(parallel);
});

test.each([{ type: "auto" }, { type: "none" }])("tool choice %j without tools says nothing", (toolChoice) => {
  expect(translate({ tools: [], tool_choice: toolChoice })).toMatchObject({ tools: [] });
  expect(translate({ tools: [], tool_choice: toolChoice }).toolChoice).toBeUndefined();
});

test.each<[object, string]>([
  [{ tools: {} }, "tools"],
  [{ tools: [{ input_schema: schema }] }, "tools[0].name"],
  [{ tools: [{ ...weather, name: "" }] }, "tools[0].name"],
  [{ tools: [weather, { name: "x" }] }, "tools[1].input_schema"],
  [{ tools: [weather, { ...weather, name: "x" }, weather] }, "tools[2].name"],
  [{ tools: [{ ...weather, input_schema: "object" }] }, "tools[0].input_schema"],
  [{ tools: [{ ...weather, input_schema: [] }] }, "tools[0].input_schema"],
  [{ tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools[0].type"],
  [{ tools: [weather, { type: "bash_20250124", name: "bash" }] }, "tools[1].type"],
  [{ tool_choice: "auto" }, "tool_choice"],
  [{ tool_choice: {} }, "tool_choice.type"],
  [{ tool_choice: { type: "required" } }, "tool_choice.type"],
  [{ tool_choice: { type: "any" } }, "tool_choice"],
  [{ tools: [], tool_choice: { type: "tool", name: "weather" } }, "tool_choice.name"],
  [{ tools: [weather], tool_choice: { type: "tool", name: "wether" } }, "tool_choice.name"],
  [{ tools: [weather], tool_choice: { type: "tool" } }, "tool_choice.name"],
])("%j is refused at %s", (fields, param) => {
  expect(() => translate(fields)).toThrow(expect.objectContaining({ status: 400, param }));
});
