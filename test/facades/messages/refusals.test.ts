import { Code } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { expectDescribed } from "../http/openapi.ts";
import { refused } from "../http/scripted-core.ts";
import { plain, surfaceFronts, versioned } from "./surface-front.ts";

const start = surfaceFronts();

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

test("a compressed body is refused in the words at which the SDK throws its own error for it", async () => {
  const { post } = await start();
  for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
    const answered = await failed(await post(path, plain, { ...versioned, "content-encoding": "zstd" }));
    expect(answered).toEqual({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringMatching(/content encoding zstd/),
      details: { error_code: "request_body_encoding_unsupported", unsupported: [] },
    });
  }
});

test("a refused body is counted, and the key's refusal comes before the body's", async () => {
  const { log, post } = await start();
  await post("/v1/messages", { ...plain, max_tokens: 0 });
  expect(log).toMatchObject({ counted: 1, generated: [] });
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
  const { front, post } = await start({
    refuse: () => {
      throw new Error("a secret");
    },
  });
  const { status, message } = await failed(await post("/v1/messages", plain));
  expect(status).toBe(500);
  expect(message).not.toContain("secret");
  expect(front.errors).toHaveLength(1);
});
