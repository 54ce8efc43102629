import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { expectDescribed } from "../http/openapi.ts";
import { answer, finished, refused, started } from "../http/scripted-core.ts";
import { decodeStream, frames } from "./response/stream-grammar.ts";
import { notUsed } from "./samples.ts";
import { plain, surfaceFronts, versioned } from "./surface-front.ts";

const start = surfaceFronts();

test("a message", async () => {
  const { log, post } = await start();
  const response = await post("/v1/messages?beta=true", plain);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  const requestId = response.headers.get("request-id");
  expect(requestId).toMatch(/^req_\w{32}$/);
  expect(response.headers.get("x-request-id")).toBe(requestId);
  const message = await response.json();
  expectDescribed("/v1/messages", "post", 200, message);
  expect(message).toEqual({
    id: requestId?.replace("req_", "msg_"),
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Hello" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 2 },
      ...notUsed,
    },
    container: null,
    context_management: null,
    stop_details: null,
    diagnostics: null,
  });
  expect(log.generated).toMatchObject([{ requestId, model: "m", maxOutputTokens: 100 }]);
});

test("tools' schemas and arguments reach the core with all their digits", async () => {
  const { log, post } = await start();
  const response = await post(
    "/v1/messages",
    `{"model":"m","max_tokens":100,"messages":[
      {"role":"user","content":"Hi"},
      {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"id":9007199254740993}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}
    ],"tools":[{"name":"f","input_schema":{"properties":{"id":{"const":9007199254740993}}}}]}`,
  );
  expect(response.status).toBe(200);
  const [request] = log.generated;
  const conversation = request?.prompt.case === "conversation" ? request.prompt.value : undefined;
  expect(conversation?.messages[1]?.toolCalls[0]?.argumentsJson).toBe('{"id":9007199254740993}');
  expect(conversation?.tools[0]?.parametersJson).toBe(
    '{"properties":{"id":{"const":9007199254740993}},"type":"object"}',
  );
});

test("a stream", async () => {
  const { post } = await start();
  const response = await post("/v1/messages", { ...plain, stream: true }, { ...versioned, accept: "application/json" });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "anthropic-ratelimit-requests-limit": "60",
    "anthropic-ratelimit-requests-remaining": "59",
    "anthropic-ratelimit-requests-reset": "2026-01-31T12:00:01Z",
  });
  expect(response.headers.get("content-encoding")).toBeNull();
  const body = await response.text();
  for (const { data } of frames(body)) {
    expectDescribed("/v1/messages", "post", 200, data, "text/event-stream");
  }
  expect(decodeStream(body)).toMatchObject({
    text: "Hello",
    stopReason: "end_turn",
    inputTokensAtStart: 7,
    usage: { input_tokens: 7, output_tokens: 5 },
  });
});

test("a stream that fails in the middle ends in an error event, without message_stop", async () => {
  const { post } = await start({
    async *generate() {
      yield { events: [started(), { event: { case: "text", value: "Hel" } }] };
      throw refused(Reason.ENGINE_FAILED, "The inference server failed.", Code.Unavailable);
    },
  });
  const response = await post("/v1/messages", { ...plain, stream: true });
  expect(response.status).toBe(200);
  const body = await response.text();
  const id = response.headers.get("request-id");
  expect(body).toContain('"text":"Hel"');
  expect(body).not.toContain("message_stop");
  expect(body.split("\n\n").at(-2)).toBe(
    `event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The inference server failed."},"request_id":"${id}"}`,
  );
});

test("line ends of any language stay inside their event", async () => {
  const text = "a\u2028b\u2029c\x85d";
  const { post } = await start({
    async *generate() {
      yield { events: answer(text) };
    },
  });
  const body = await (await post("/v1/messages", { ...plain, stream: true })).text();
  expect(body).toMatch(/^[\n -~]*$/);
  expect(decodeStream(body).text).toBe(text);
});

test.each<[string, Record<string, string>, string | null]>([
  ["x-api-key", { "x-api-key": "tg-1" }, "Bearer tg-1"],
  ["a bearer", { authorization: "Bearer tg-1" }, "Bearer tg-1"],
  ["both, of which x-api-key wins", { "x-api-key": "tg-1", authorization: "Bearer tg-2" }, "Bearer tg-1"],
  ["no key", {}, null],
])("%s goes to the core", async (_, headers, credential) => {
  const { log, post } = await start();
  await post("/v1/messages", plain, headers);
  expect(log.headers.map((sent) => sent.get("authorization"))).toEqual([credential]);
});

test.each(["2023-06-01", "2026-10-21", "x", undefined])("anthropic-version %s is served", async (version) => {
  const { post } = await start();
  const headers: Record<string, string> = {
    "anthropic-beta": "a,b",
    "x-stainless-lang": "js",
    "content-type": "text/plain",
  };
  if (version !== undefined) {
    headers["anthropic-version"] = version;
  }
  expect((await post("/v1/messages", plain, headers)).status).toBe(200);
});

test("counting tokens", async () => {
  const { post } = await start({ countTokens: () => ({ inputTokens: 42n }) });
  const response = await post("/v1/messages/count_tokens", { ...plain, max_tokens: undefined, stream: true });
  const count = await response.json();
  expectDescribed("/v1/messages/count_tokens", "post", 200, count);
  expect(count).toEqual({ input_tokens: 42, context_management: null });
});

describe("models", () => {
  const models = ["org/a", "org/b", "c"].map((id) => ({ id, kind: 1, contextLength: 100, maxOutputTokens: 10 }));

  test.each<[string, Record<string, string>, boolean]>([
    ["anthropic-version", { "anthropic-version": "2026-10-21" }, true],
    ["x-api-key", { "x-api-key": "tg-wrong" }, true],
    ["a bearer", { authorization: "Bearer tg-wrong" }, false],
    ["nothing", {}, false],
  ])("with %s", async (_, headers, isMessages) => {
    const { url, log } = await start({ models });
    const list = await (await fetch(`${url}/v1/models`, { headers })).json();
    expect("has_more" in (list as object)).toBe(isMessages);
    const model = await (await fetch(`${url}/v1/models/c`, { headers })).json();
    expect((model as { type?: string }).type === "model").toBe(isMessages);
    expect(log.headers).toEqual([]);
  });

  test("page by page", async () => {
    const { url } = await start({ models });
    const list = await (
      await fetch(`${url}/v1/models?limit=1&after_id=org%2Fa&beta=true`, { headers: versioned })
    ).json();
    expect(list).toMatchObject({
      data: [{ type: "model", id: "org/b" }],
      has_more: true,
      first_id: "org/b",
      last_id: "org/b",
    });
    const wrong = await fetch(`${url}/v1/models?limit=x`, { headers: versioned });
    expect(wrong.status).toBe(400);
  });

  test.each(["/v1/models/org/a", "/v1/models/org%2Fa"])("%s", async (path) => {
    const { url } = await start({ models });
    const model = await (await fetch(url + path, { headers: versioned })).json();
    expectDescribed("/v1/models/{id}", "get", 200, model);
    expect(model).toMatchObject({
      type: "model",
      id: "org/a",
    });
  });

  test("an unknown one", async () => {
    const { url } = await start({ models });
    const response = await fetch(`${url}/v1/models/none`, { headers: versioned });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  });
});

test("the core's events that reach the surface together leave it together", async () => {
  const { post } = await start({
    async *generate() {
      yield { events: [started(), { event: { case: "text", value: "a" } }, { event: { case: "text", value: "b" } }] };
      yield { events: [finished()] };
    },
  });
  expect(decodeStream(await (await post("/v1/messages", { ...plain, stream: true })).text()).text).toBe("ab");
});
