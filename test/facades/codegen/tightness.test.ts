import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { startFront } from "../http/front-server.ts";
import { scriptedCore } from "../http/scripted-core.ts";

// What the schema allows the service takes, and what it forbids the service refuses.

const document = JSON.parse(readFileSync("gen/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false }).addSchema(document, "doc");
const messages = [{ role: "user", content: "hi" }];
/** Checks a body by the schema of its path. */
function bodyValidator(path: string) {
  const reference = document.paths[path].post.requestBody.content["application/json"].schema.$ref;
  return ajv.compile({ $ref: `doc${reference}` });
}

const tools = [{ name: "f", input_schema: { type: "object" } }];
const bodies: Record<string, object> = {
  "/v1/chat/completions": { model: "m", messages },
  "/v1/completions": { model: "m", prompt: "a" },
  "/v1/messages": { model: "m", max_tokens: 5, messages, tools },
};

test.each<[path: string, field: string, right: unknown[], wrong: unknown[]]>([
  [
    "/v1/chat/completions",
    "response_format",
    [{ type: "text" }],
    [{ type: "json_object" }, { type: "json_schema" }, {}, { type: 1 }, "text"],
  ],
  ["/v1/chat/completions", "modalities", [["text"], []], [["audio"], ["text", "audio"], "text"]],
  ["/v1/chat/completions", "logprobs", [false], [true, 1, "false"]],
  ["/v1/chat/completions", "top_logprobs", [false, 0], [1, 5, -1, true]],
  ["/v1/chat/completions", "top_k", [-1, 0, 40], [-2, 1.5, "40"]],
  ["/v1/chat/completions", "min_p", [0, 1], [-0.1, 1.1, "0"]],
  ["/v1/completions", "repetition_penalty", [0.5, 2], [-1, 0, 2.1, true]],
  ["/v1/chat/completions", "top_p", [0.1, 1], [-1, 0, 1.1, "1"]],
  ["/v1/completions", "top_p", [0.1, 1], [-1, 0, 1.1]],
  ["/v1/messages", "max_tokens", [1, 2 ** 40], [0, 1.5, "5"]],
  ["/v1/messages", "top_p", [-1, 0.1, 1], [-0.5, 0, 1.1, "1"]],
  ["/v1/chat/completions", "logit_bias", [{}], [{ 50256: -100 }, [], 0, "{}"]],
  ["/v1/chat/completions", "ignore_eos", [false], [true, 0]],
  ["/v1/chat/completions", "min_tokens", [0], [1, -1, false]],
  ["/v1/chat/completions", "stop_token_ids", [[]], [[2], {}]],
  ["/v1/chat/completions", "models", [[]], [["m"], "m"]],
  ["/v1/chat/completions", "enable_thinking", [true, false], ["true", 1]],
  ["/v1/completions", "ignore_eos", [false], [true]],
  ["/v1/completions", "response_format", [{ type: "text" }], [{ type: "json_object" }, "text"]],
  ["/v1/completions", "plugins", [[]], [[{ id: "web" }]]],
  ["/v1/completions", "echo", [false], [true, 0, "false"]],
  ["/v1/completions", "suffix", [""], ["x", 0]],
  ["/v1/completions", "logprobs", [false], [0, 5, true]],
  ["/v1/completions", "logit_bias", [{}], [{ 50256: -100 }, []]],
  ["/v1/messages", "metadata", [{ user_id: "u" }, { user_id: 42 }, { user_id: {} }, {}, "x", 42, [1], false], []],
  ["/v1/chat/completions", "user", ["u", 42, {}, ["u"]], []],
  ["/v1/completions", "user", ["u", 42, {}], []],
  ["/v1/messages", "mcp_servers", [[]], [[{ type: "url", url: "http://x", name: "x" }], {}, "x"]],
  [
    "/v1/messages",
    "tool_choice",
    [{ type: "tool", name: "f" }, { type: "auto" }, { type: "any", name: "x" }, { type: "none" }],
    [{ type: "tool" }, { type: "required" }, {}, { type: "tool", name: 1 }, { name: "f" }],
  ],
])("%s: %s", async (path, field, right, wrong) => {
  await using front = await startFront(scriptedCore().transport);
  const validate = bodyValidator(path);
  const all = [...right.map((value) => [value, true]), ...wrong.map((value) => [value, false])] as [unknown, boolean][];
  for (const [value, isRight] of all) {
    const body = { ...bodies[path], [field]: value };
    const response = await fetch(front.url + path, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    expect({ value, service: response.status, schema: validate(body) }).toEqual({
      value,
      service: isRight ? 200 : 400,
      schema: isRight,
    });
    if (!isRight) {
      expect(text).toContain(field);
    }
  }
});

const added = {
  role: "system",
  content: [{ type: "tool_addition", tool: { type: "tool_definition", definition: tools[0] } }],
};
const chatTool = { type: "function", function: { name: "f" } };

test.each<[path: string, fields: object, isRight: boolean]>([
  ["/v1/messages", { tools: undefined }, true],
  ["/v1/messages", { tools: [], tool_choice: { type: "auto" } }, true],
  ["/v1/messages", { tools: [], tool_choice: { type: "any" } }, false],
  ["/v1/messages", { tools: undefined, tool_choice: { type: "any" } }, false],
  ["/v1/messages", { tools: undefined, tool_choice: { type: "tool", name: "f" } }, false],
  ["/v1/messages", { tools: [], tool_choice: { type: "any" }, messages: [...messages, added] }, true],
  ["/v1/messages/count_tokens", { tools: [], tool_choice: { type: "any" } }, false],
  ["/v1/chat/completions", { tool_choice: "none" }, true],
  ["/v1/chat/completions", { tool_choice: "required" }, false],
  ["/v1/chat/completions", { tools: [], tool_choice: chatTool }, false],
  ["/v1/chat/completions", { tools: [chatTool], tool_choice: chatTool }, true],
])("%s with %j: %s", async (path, fields, isRight) => {
  await using front = await startFront(scriptedCore().transport);
  const body = JSON.parse(JSON.stringify({ ...bodies[path.replace("/count_tokens", "")], ...fields }));
  const { status } = await fetch(front.url + path, { method: "POST", body: JSON.stringify(body) });
  expect([status, bodyValidator(path)(body)]).toEqual([isRight ? 200 : 400, isRight]);
});

test("what a query needs, and its lists", async () => {
  await using front = await startFront(scriptedCore().transport);
  const parameter = (path: string, name: string) =>
    document.paths[path].get.parameters.find((parameter: { name: string }) => parameter.name === name);
  expect(parameter("/v1/generation", "id")).toMatchObject({ in: "query", required: true });
  expect((await fetch(`${front.url}/v1/generation`)).status).toBe(400);
  const { explode, schema } = parameter("/v1/usage", "by");
  expect(explode).toBe(false);
  for (const [by, isRight] of Object.entries({ "hour,model": true, account: true, "hour, day": true, colour: false })) {
    const { status } = await fetch(`${front.url}/v1/usage?by=${by}`);
    const items = by.split(",").map((item) => item.trim());
    expect([by, status !== 400, ajv.validate(schema, items)]).toEqual([by, isRight, isRight]);
  }
});

test("the limit of a page of models", async () => {
  await using front = await startFront(scriptedCore().transport);
  const { schema } = document.paths["/v1/models"].get.parameters.find(({ name }: { name: string }) => name === "limit");
  const validate = ajv.compile(schema);
  for (const [limit, isRight] of Object.entries({ 1: true, 1000: true, 0: false, 1001: false, 1.5: false })) {
    const headers = { "anthropic-version": "2023-06-01" };
    const { status } = await fetch(`${front.url}/v1/models?limit=${limit}`, { headers });
    expect([limit, status, validate(Number(limit))]).toEqual([limit, isRight ? 200 : 400, isRight]);
  }
});

test("a thread is refused in the words at which the SDK goes on without one", async () => {
  await using front = await startFront(scriptedCore().transport);
  const body = JSON.stringify({ ...bodies["/v1/messages"], thread: { type: "create" } });
  const response = await fetch(`${front.url}/v1/messages`, { method: "POST", body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: {
      type: "invalid_request_error",
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    },
  });
});

test("a container is refused", async () => {
  await using front = await startFront(scriptedCore().transport);
  const body = JSON.stringify({ ...bodies["/v1/messages"], container: "container_1" });
  const response = await fetch(`${front.url}/v1/messages`, { method: "POST", body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(/^container is not supp/) } });
});
