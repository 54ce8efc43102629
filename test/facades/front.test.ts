import { readFileSync } from "node:fs";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { withRateLimit } from "#lib/rpc/rate-limit.ts";
import { startFront } from "./http/front-server.ts";
import { refused, scriptedCore } from "./http/scripted-core.ts";

const messagesStyle = { "anthropic-version": "2023-06-01" };
const chatBody = { model: "m", messages: [{ role: "user", content: "hi" }] };

async function call(
  path: string,
  init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
  script: Parameters<typeof scriptedCore>[0] = {},
) {
  const { transport, log } = scriptedCore(script);
  await using front = await startFront(transport);
  const { body, headers = {}, method = body === undefined ? "GET" : "POST" } = init;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(front.url + path, { method, headers, ...(body !== undefined && { body: text }) });
  const answer = await response.text();
  expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
  expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
  return {
    status: response.status,
    headers: response.headers,
    json: answer === "" ? undefined : JSON.parse(answer),
    log,
  };
}

/** Which surface an error's body is of. */
const shapeOf = (json: { type?: string; error?: { code?: string } }) => (json.type === "error" ? "messages" : "chat");

describe("what leads nowhere", () => {
  test.each<[method: string, path: string, headers: Record<string, string>, shape: string, message: RegExp]>([
    ["GET", "/nothing", {}, "chat", /There is no endpoint GET \/nothing/],
    ["GET", "/nothing", messagesStyle, "messages", /There is no endpoint/],
    ["GET", "/nothing", { "x-api-key": "k" }, "messages", /There is no endpoint/],
    ["POST", "/v1/messages/nothing", {}, "messages", /There is no endpoint/],
    ["POST", "/v1/messages/batches", {}, "messages", /message-batches API is not available/],
    ["POST", "/v1/chat/nothing", messagesStyle, "chat", /There is no endpoint/],
    ["POST", "/v1/responses", {}, "chat", /responses API is not available/],
    ["POST", "/api/v1/responses", {}, "chat", /responses API is not available/],
    ["GET", "/v1/responses/resp_1", messagesStyle, "chat", /responses API is not available/],
    ["POST", "/v1/images/generations", {}, "chat", /images API is not available/],
    ["POST", "/v1/audio/speech", {}, "chat", /audio API .* is not available/],
    ["POST", "/v1/audio/transcriptions", {}, "chat", /audio API .* is not available/],
    ["POST", "/v1/assistants", {}, "chat", /assistants API is not available/],
    ["POST", "/v1/fine_tuning/jobs", {}, "chat", /fine-tuning API is not available/],
    ["POST", "/v1/batches", {}, "chat", /batches API is not available/],
    ["GET", "/v1/files", {}, "chat", /files API is not available/],
    ["GET", "/v1/files", messagesStyle, "messages", /files API is not available/],
    ["GET", "/v1/filesystem", {}, "chat", /There is no endpoint/],
    ["GET", "/V1/models", {}, "chat", /There is no endpoint GET \/V1\/models/],
    ["GET", "/v1/models/", {}, "chat", /There is no endpoint/],
    ["GET", "/v1/models/", messagesStyle, "messages", /There is no endpoint/],
    ["POST", "/v1/Chat/completions", {}, "chat", /There is no endpoint/],
    ["POST", "/v1/chat/completions/", {}, "chat", /There is no endpoint/],
    ["POST", "/v1/messages/", {}, "messages", /There is no endpoint/],
    ["GET", "/Health", {}, "chat", /There is no endpoint/],
    ["GET", "//v1/models", {}, "chat", /There is no endpoint/],
  ])("%s %s with %j is a 404 of the %s surface", async (method, path, headers, shape, message) => {
    const init = { method, headers, ...(method === "POST" && { body: "not even JSON" }) };
    const { status, json, log } = await call(path, init);
    expect(status).toBe(404);
    expect(shapeOf(json)).toBe(shape);
    expect(json.error.message).toMatch(message);
    if (shape === "chat") {
      expect(json.error).toMatchObject({ type: "invalid_request_error", code: "unknown_url" });
    } else {
      expect(json.error.type).toBe("not_found_error");
    }
    expect(log.counted).toBe(0);
  });

  test.each([
    ["GET", "/v1/chat/completions", "POST", "chat"],
    ["DELETE", "/v1/embeddings", "POST", "chat"],
    ["OPTIONS", "/v1/completions", "POST", "chat"],
    ["GET", "/v1/messages", "POST", "messages"],
    ["GET", "/v1/messages/count_tokens", "POST", "messages"],
    ["POST", "/v1/models", "GET, HEAD", "chat"],
    ["PUT", "/v1/models/a/b", "GET, HEAD", "chat"],
    ["POST", "/test-auth", "GET, HEAD", "chat"],
  ])("%s %s is a 405 that allows %s", async (method, path, allow, shape) => {
    const { status, headers, json } = await call(path, { method });
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe(allow);
    expect(shapeOf(json)).toBe(shape);
    if (shape === "chat") {
      expect(json.error.code).toBe("method_not_allowed");
    } else {
      expect(json.error.type).toBe("invalid_request_error");
    }
  });
});

describe("the order of checks", () => {
  const noKey = () => refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated);
  const limited = () =>
    withRateLimit(
      refused(Reason.RATE_LIMITED, "Slow down.", Code.ResourceExhausted, { retryAfter: { seconds: 7n, nanos: 1 } }),
      { limit: 60, remaining: 0, resetAfterMs: 7001 },
    );

  test.each([
    ["/v1/chat/completions", "{"],
    ["/v1/chat/completions", {}],
    ["/v1/chat/completions", { ...chatBody, response_format: { type: "json_object" } }],
    ["/v1/completions", { model: "m" }],
    ["/v1/embeddings", { model: "m", input: [] }],
    ["/v1/messages", {}],
    ["/v1/messages/count_tokens", "nonsense"],
  ])("on %s the key and the rate come before the body %j", async (path, body) => {
    expect((await call(path, { body }, { refuse: noKey })).status).toBe(401);
    const refusal = await call(path, { body }, { refuse: limited });
    expect(refusal.status).toBe(429);
    expect(refusal.headers.get("retry-after")).toBe("8");
    expect(refusal.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    const allowed = await call(path, { body });
    expect(allowed).toMatchObject({ status: 400, log: { counted: 1, generated: [], embedded: [] } });
    expect(allowed.headers.get("x-ratelimit-remaining-requests")).toBe("59");
  });

  test("a request in order is one call of the core", async () => {
    const { status, headers, log } = await call("/v1/chat/completions", { body: chatBody });
    expect(status).toBe(200);
    expect(log.counted).toBe(0);
    expect(log.generated).toHaveLength(1);
    expect(log.generated[0]?.requestId).toBe(headers.get("x-request-id"));
  });
});

describe("GET /v1/models", () => {
  const models = [{ id: "org/name", kind: 1 }];

  test.each([
    ["/v1/models", {}, { object: "list", data: [{ id: "org/name" }] }],
    ["/v1/models?limit=1000", messagesStyle, { data: [{ id: "org/name", type: "model" }], has_more: false }],
    ["/v1/models", { "x-api-key": "k" }, { has_more: false }],
    ["/v1/models/org/name", {}, { id: "org/name", object: "model" }],
    ["/v1/models/org%2Fname", {}, { id: "org/name", object: "model" }],
    ["/v1/models/org%2Fname", messagesStyle, { id: "org/name", type: "model" }],
  ])("%s with %j", async (path, headers, expected) => {
    const { status, json } = await call(path, { headers }, { models });
    expect(status).toBe(200);
    expect(json).toMatchObject(expected);
  });

  test("needs no key, and sends none on", async () => {
    const { status, log } = await call("/v1/models", { headers: { authorization: "Bearer wrong" } }, { models });
    expect(status).toBe(200);
    expect(log.headers).toEqual([]);
  });

  test("tells of an unknown model in each shape", async () => {
    expect(await call("/v1/models/no", {}, { models })).toMatchObject({
      status: 404,
      json: { error: { code: "model_not_found" } },
    });
    expect(await call("/v1/models/no", { headers: messagesStyle }, { models })).toMatchObject({
      status: 404,
      json: { type: "error", error: { type: "not_found_error" } },
    });
  });

  test("a query that cannot be is refused", async () => {
    const { status, json } = await call("/v1/models?limit=many", { headers: messagesStyle });
    expect(status).toBe(400);
    expect(json.error.message).toBe("limit must be an integer.");
  });
});

describe("beside the surfaces", () => {
  test("the OpenAPI document is served", async () => {
    const { status, json } = await call("/openapi.json");
    expect(status).toBe(200);
    expect(json).toEqual(JSON.parse(readFileSync("gen/openapi.json", "utf8")));
  });

  test.each(["GET", "HEAD"])("%s / is harmless", async (method) => {
    expect((await call("/", { method })).status).toBe(200);
  });

  test.each(["GET", "HEAD"])("%s /health answers with nothing, and calls nothing", async (method) => {
    const refuse = () => refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated);
    const { status, headers, json, log } = await call("/health", { method }, { refuse });
    expect({ status, json }).toEqual({ status: 204, json: undefined });
    expect(headers.get("content-length")).toBeNull();
    expect(log).toMatchObject({ counted: 0, headers: [] });
  });

  test("query strings and unknown headers are ignored", async () => {
    const headers = { "x-stainless-lang": "js", "anthropic-beta": "x,y", accept: "application/json" };
    expect((await call("/v1/chat/completions?beta=true", { body: chatBody, headers })).status).toBe(200);
  });
});

test("an error that nobody meant is a 500 that tells nothing and is logged", async () => {
  const { transport } = scriptedCore({
    generate() {
      throw new Error("secret");
    },
  });
  await using front = await startFront(transport);
  const ids: unknown[] = [];
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    const body = JSON.stringify({ ...chatBody, max_tokens: 5 });
    const response = await fetch(front.url + path, { method: "POST", body });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    ids.push(response.headers.get("x-request-id"));
  }
  expect(front.errors).toMatchObject(ids.map((requestId) => ({ requestId })));
  expect(front.lines).toEqual([]);
});

test("while no core answers, each answer has its line here, as nobody else knows of the request", async () => {
  let error = new ConnectError("no connection could be made", Code.Unavailable);
  const { transport } = scriptedCore({ refuse: () => error });
  await using front = await startFront(transport);
  const ask = async (surface: string, route: string, body: object) => {
    const response = await fetch(front.url + route, { method: "POST", body: JSON.stringify(body) });
    const requestId = response.headers.get("x-request-id");
    return { requestId, reason: "UNSPECIFIED", status: response.status, surface, route, address: "127.0.0.1" };
  };
  const askAll = async () => [
    await ask("chat", "/v1/chat/completions", chatBody),
    await ask("chat", "/v1/chat/completions", { ...chatBody, n: 2 }),
    await ask("messages", "/v1/messages", { ...chatBody, max_tokens: 5 }),
  ];
  const away = await askAll();
  expect(away.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect(front.lines).toEqual(away.map((line) => ({ ...line, cause: "no core answers" })));
  error = refused(Reason.LEDGER_UNAVAILABLE, "Away.", Code.Unavailable);
  await askAll();
  expect(front.lines).toHaveLength(away.length); // the core has lines of what it refuses
});

test("a key for inference that is to manage keys is refused under an id that has a line, and of which the core is told", async () => {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const response = await fetch(`${front.url}/v1/keys`, { headers: { authorization: "Bearer tg-1" } });
  const [requestId, where] = [response.headers.get("x-request-id"), { surface: "chat", route: "/v1/keys" }];
  expect(front.lines).toEqual([
    { requestId, reason: "PERMISSION_DENIED", status: 403, ...where, address: "127.0.0.1" },
  ]);
  expect(log.identified).toBe(2); // once to ask who calls, and once to tell
});
