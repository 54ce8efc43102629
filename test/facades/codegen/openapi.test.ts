import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createCoreClients } from "../../../facades/http/core/core-clients.ts";
import { createSurfaces } from "../../../facades/surfaces.ts";
import { scriptedCore } from "../http/scripted-core.ts";

const document = JSON.parse(readFileSync("gen/openapi.json", "utf8"));
const schemaOf = (name: string) => document.components.schemas[name];

test("every route of the surfaces is described, and the public state", () => {
  const routes = createSurfaces(createCoreClients(scriptedCore().transport), () => ({}))
    .flatMap(({ endpoints }) => endpoints)
    .filter(({ path }) => !path.startsWith("/api/")) // second addresses of routes that are described
    .map(({ verb, path }) => `${verb.toLowerCase()} ${path.replace(/[*:](\w+)/, "{$1}")}`);
  const described = Object.entries<object>(document.paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => `${verb} ${path}`),
  );
  expect(described.toSorted()).toEqual([...new Set([...routes, "get /status"])].toSorted());
});

test("every reference leads somewhere, every schema is one, and every name is used", () => {
  const text = JSON.stringify(document);
  const names = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
  expect(Object.keys(document.components.schemas).toSorted()).toEqual([...names].toSorted());
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, "openapi.json");
  for (const name of names) {
    expect(() => ajv.compile({ $ref: `openapi.json#/components/schemas/${name}` })).not.toThrow();
  }
});

test.each(["/v1/chat/completions", "/v1/completions", "/v1/messages"])("%s answers whole or as a stream", (path) => {
  const { content } = document.paths[path].post.responses[200];
  expect(Object.keys(content)).toEqual(["application/json", "text/event-stream"]);
  expect(content["application/json"].schema).not.toEqual(content["text/event-stream"].schema);
});

test("a statement answers with JSON lines", () => {
  const { content } = document.paths["/v1/statement"].get.responses[200];
  expect(content).toEqual({
    "application/jsonl": { schema: { $ref: "#/components/schemas/tollgate.chat.v1.GetStatementResponse" } },
  });
});

test("an endpoint that both surfaces have tells of both shapes and needs no key", () => {
  const { responses, security, tags } = document.paths["/v1/models"].get;
  expect(responses[200].content["application/json"].schema.anyOf).toHaveLength(2);
  expect(security).toEqual([]);
  expect(tags).toHaveLength(2);
});

test("every other endpoint takes the key in either header", () => {
  expect(document.components.securitySchemes).toMatchObject({
    bearer: { scheme: "bearer" },
    apiKey: { name: "x-api-key" },
  });
  expect(document.paths["/v1/messages"].post.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
  expect(document.paths["/test-auth"].get.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
});

test("errors are described with their shape", () => {
  const { responses } = document.paths["/v1/chat/completions"].post;
  for (const status of [400, 401, 403, 404, 413, 415, 429, 500, 502, 503, 504]) {
    expect(responses[status].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/tollgate.chat.v1.ErrorResponse",
    });
  }
  expect(responses[429].headers["retry-after"]).toBeDefined();
});

test("a method says its own errors, and one that runs nothing none of a frozen account", () => {
  const { responses } = document.paths["/v1/generation"].get;
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(["404", "410"]));
  expect(responses[404].description).toContain("No answer of this account");
  expect(responses[410].content["application/json"].schema.$ref).toContain("chat.v1.ErrorResponse");
  for (const path of ["/v1/generation", "/v1/key", "/v1/credits", "/v1/usage", "/test-auth", "/v1/models"]) {
    expect(Object.keys(document.paths[path].get.responses)).not.toContain("403");
  }
});

test("a parameter of the path is required, and a query has its bounds", () => {
  expect(document.paths["/v1/models/{id}"].get.parameters).toMatchObject([{ name: "id", in: "path", required: true }]);
  expect(document.paths["/v1/models"].get.parameters).toContainEqual(
    expect.objectContaining({ name: "limit", in: "query", schema: expect.objectContaining({ maximum: 1000 }) }),
  );
});

test("fields carry their comment, bounds and presence", () => {
  expect(schemaOf("tollgate.chat.v1.CreateChatCompletionRequest")).toMatchObject({
    type: "object",
    required: ["model", "messages"],
    properties: {
      messages: { type: "array", minItems: 1, description: "The turns so far, oldest first." },
      temperature: { type: "number", minimum: 0, maximum: 2 },
      tool_choice: { $ref: "#/components/schemas/tollgate.chat.v1.ToolChoice" },
      reasoning_effort: { enum: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
    },
  });
  expect(schemaOf("tollgate.chat.v1.Error")).toMatchObject({
    required: ["message", "type", "param", "code"],
    properties: { param: { anyOf: [{ type: "string" }, { type: "null" }] } },
  });
  expect(schemaOf("tollgate.chat.v1.KeySettings").properties).toHaveProperty("maxRpm");
});

test("what is refused is not offered", () => {
  const { properties } = schemaOf("tollgate.chat.v1.CreateChatCompletionRequest");
  for (const name of ["functions", "audio", "web_search_options"]) {
    expect(properties).not.toHaveProperty(name);
  }
  expect(schemaOf("tollgate.chat.v1.CreateEmbeddingRequest").properties).not.toHaveProperty("dimensions");
});

test("unions: by kind, by tag, and by array", () => {
  expect(schemaOf("tollgate.chat.v1.Content").anyOf).toHaveLength(2);
  const [system] = schemaOf("tollgate.chat.v1.ChatMessage").oneOf;
  expect(system.allOf[0]).toEqual({ type: "object", properties: { role: { const: "system" } }, required: ["role"] });
  expect(schemaOf("tollgate.chat.v1.EmbeddingTexts")).toMatchObject({
    type: "array",
    minItems: 1,
    maxItems: 2048,
    items: { minLength: 1 },
  });
});

test("a method says its own status of success, and what a path names is a parameter beside a body", () => {
  const { "/v1/keys": keys, "/v1/keys/{hash}": one } = document.paths;
  expect(Object.keys(keys.post.responses).filter((status) => status < "300")).toEqual(["201"]);
  expect(Object.keys(keys.get.responses).filter((status) => status < "300")).toEqual(["200"]);
  for (const verb of ["get", "patch", "delete"]) {
    expect(one[verb].parameters).toMatchObject([{ name: "hash", in: "path", required: true }]);
  }
  expect([one.get, one.patch, one.delete].map(({ requestBody }) => requestBody !== undefined)).toEqual([
    ...[false, true, false],
  ]);
  const { limit } = schemaOf("tollgate.chat.v1.UpdateManagedKeyRequest").properties;
  expect(limit.anyOf).toEqual([{ type: "number" }, { type: "null" }]);
});
