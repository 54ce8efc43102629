import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type FrontServer, startFront } from "../http/front-server.ts";
import { expectDescribed } from "../http/openapi.ts";
import { answer, finished, refused, type Script, scriptedCore, started } from "../http/scripted-core.ts";
import { decodeStream, frames } from "./response/stream-grammar.ts";
import { notUsed } from "./samples.ts";

let front: FrontServer | undefined;
afterEach(async () => {
  await front?.[Symbol.asyncDispose]();
  front = undefined;
});

const plain = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
const versioned = { "anthropic-version": "2023-06-01", "x-api-key": "tg-1" };

/** Starts a front over a core that does as the script says; posts go to it. */
async function start(script: Partial<Script> = {}) {
  const core = scriptedCore(script);
  front = await startFront(core.transport);
  const { url } = front;
  const post = (path: string, body: unknown, headers: Record<string, string> = versioned) =>
    fetch(url + path, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });
  return { log: core.log, url, post };
}

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

describe("errors", () => {
  type Body = { error: { type: string; message: string }; request_id: string };
  async function failed(response: Response) {
    const body = (await response.json()) as Body;
    if (documented.includes(response.status)) {
      expectDescribed("/v1/messages", "post", response.status, body);
    }
    expect(body).toMatchObject({ type: "error", request_id: response.headers.get("request-id") });
    return { status: response.status, ...body.error };
  }
  const documented = [400, 401, 404, 413, 415, 429, 500, 502, 503, 504, 529];

  const soon = { retryAfter: { seconds: 2n, nanos: 1 } };
  test.each<[keyof typeof Reason, Parameters<typeof refused>[3], number, string, string | null]>([
    ["INVALID_ARGUMENT", {}, 400, "invalid_request_error", null],
    [
      "CONTEXT_LENGTH_EXCEEDED",
      { bound: { case: "tokens", value: { limit: 8n, actual: 9n } } },
      400,
      "invalid_request_error",
      null,
    ],
    ["BALANCE_EXHAUSTED", {}, 400, "invalid_request_error", null],
    ["UNAUTHENTICATED", {}, 401, "authentication_error", null],
    ["MODEL_NOT_FOUND", {}, 404, "not_found_error", null],
    ["MODEL_KIND_MISMATCH", {}, 404, "not_found_error", null],
    ["RATE_LIMITED", soon, 429, "rate_limit_error", "3"],
    ["FREE_TIER_LIMITED", soon, 429, "rate_limit_error", "3"],
    ["BALANCE_HELD", soon, 429, "rate_limit_error", "3"],
    ["ENGINE_FAILED", {}, 502, "api_error", null],
    ["TIMEOUT", {}, 504, "timeout_error", null],
    ["OVERLOADED", soon, 529, "overloaded_error", "3"],
  ])("%s", async (reason, facts, status, type, retryAfter) => {
    const { post } = await start({ refuse: () => refused(Reason[reason], "No.", Code.Aborted, facts) });
    for (const stream of [false, true]) {
      const response = await post("/v1/messages", { ...plain, stream });
      expect(response.headers.get("retry-after")).toBe(retryAfter);
      expect(await failed(response)).toMatchObject({ status, type });
    }
    const counting = await post("/v1/messages/count_tokens", plain);
    expect(await failed(counting)).toMatchObject({ status, type });
  });

  test.each<[string, unknown, Record<string, string>, number, string, RegExp]>([
    ["bad JSON", "{", {}, 400, "invalid_request_error", /JSON/],
    ["no body", "", {}, 400, "invalid_request_error", /empty/],
    ["an array", "[]", {}, 400, "invalid_request_error", /object/],
    ["a wrong field", { ...plain, messages: "Hi" }, {}, 400, "invalid_request_error", /^messages/],
    ["multipart", "--x", { "content-type": "multipart/form-data; boundary=x" }, 415, "invalid_request_error", /JSON/],
    ["too large", { ...plain, system: "x".repeat(2 ** 21) }, {}, 413, "request_too_large", /2 MiB/],
  ])("%s", async (_, body, headers, status, type, message) => {
    const { post } = await start();
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const answered = await failed(await post(path, body, { ...versioned, ...headers }));
      expect(answered).toMatchObject({ status, type, message: expect.stringMatching(message) });
    }
  });

  test("a refused body is counted, and the key's refusal comes before the body's", async () => {
    const { log, post } = await start();
    await post("/v1/messages", { ...plain, max_tokens: 0 });
    expect(log).toMatchObject({ counted: 1, generated: [] });
    await front?.[Symbol.asyncDispose]();
    const strict = await start({ refuse: () => refused(Reason.UNAUTHENTICATED, "No.", Code.Unauthenticated) });
    expect((await strict.post("/v1/messages", "{")).status).toBe(401);
  });

  test.each<[string, string, Record<string, string>, number, string]>([
    ["GET", "/v1/messages", {}, 405, "invalid_request_error"],
    ["DELETE", "/v1/messages/count_tokens", {}, 405, "invalid_request_error"],
    ["POST", "/v1/messages/batches", {}, 404, "not_found_error"],
    ["GET", "/v1/messages/batches/b1/results", {}, 404, "not_found_error"],
    ["GET", "/v1/files", versioned, 404, "not_found_error"],
    ["POST", "/v1/nowhere", versioned, 404, "not_found_error"],
  ])("%s %s is no endpoint", async (method, path, headers, status, type) => {
    const { url } = await start();
    const response = await fetch(url + path, { method, headers });
    expect(response.headers.get("allow")).toBe(status === 405 ? "POST" : null);
    expect(await failed(response)).toMatchObject({ status, type });
  });

  test("an error that nobody meant is logged and tells nothing", async () => {
    const { post } = await start({
      refuse: () => {
        throw new Error("a secret");
      },
    });
    const { status, message } = await failed(await post("/v1/messages", plain));
    expect(status).toBe(500);
    expect(message).not.toContain("secret");
    expect(front?.errors).toHaveLength(1);
  });
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
