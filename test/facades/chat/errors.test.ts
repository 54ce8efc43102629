import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { errorOf } from "../../../facades/chat/errors.ts";
import { RequestError } from "../../../facades/http/request/error.ts";
import { refused } from "../http/scripted-core.ts";

const soon = { retryAfter: { seconds: 2n, nanos: 1 } };

interface Expected {
  status: number;
  type: string;
  code: string;
  param?: string;
  headers?: Record<string, string>;
}

test.each<[reason: keyof typeof Reason, facts: Parameters<typeof refused>[3], expected: Expected]>([
  [
    "INVALID_ARGUMENT",
    { parameter: "conversation.messages[3].text" },
    { status: 400, type: "invalid_request_error", code: "invalid_value", param: "messages[3].content" },
  ],
  [
    "UNSUPPORTED",
    { parameter: "sampling.top_k" },
    { status: 400, type: "invalid_request_error", code: "invalid_value", param: "top_k" },
  ],
  [
    "UNAUTHENTICATED",
    {},
    {
      status: 401,
      type: "invalid_request_error",
      code: "invalid_api_key",
      headers: { "x-should-retry": "false" },
    },
  ],
  ["ACCOUNT_FROZEN", {}, { status: 403, type: "permission_error", code: "account_frozen" }],
  ["PERMISSION_DENIED", {}, { status: 403, type: "invalid_request_error", code: "permission_denied" }],
  [
    "AUTHENTICATION_THROTTLED",
    soon,
    { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded", headers: { "retry-after": "3" } },
  ],
  ["RECEIPT_NOT_FOUND", {}, { status: 404, type: "invalid_request_error", code: "generation_not_found", param: "id" }],
  ["RECEIPT_ARCHIVED", {}, { status: 410, type: "invalid_request_error", code: "generation_archived", param: "id" }],
  ["MODEL_NOT_FOUND", {}, { status: 404, type: "invalid_request_error", code: "model_not_found", param: "model" }],
  ["MODEL_KIND_MISMATCH", {}, { status: 404, type: "invalid_request_error", code: "model_not_found", param: "model" }],
  [
    "CONTEXT_LENGTH_EXCEEDED",
    {},
    { status: 400, type: "invalid_request_error", code: "context_length_exceeded", param: "messages" },
  ],
  [
    "CONTEXT_LENGTH_EXCEEDED",
    { parameter: "text" },
    { status: 400, type: "invalid_request_error", code: "context_length_exceeded", param: "prompt" },
  ],
  [
    "INPUT_TOO_LONG",
    { parameter: "inputs[2]" },
    { status: 400, type: "invalid_request_error", code: "context_length_exceeded", param: "input" },
  ],
  [
    "RATE_LIMITED",
    soon,
    { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded", headers: { "retry-after": "3" } },
  ],
  [
    "FREE_TIER_LIMITED",
    soon,
    {
      status: 429,
      type: "rate_limit_error",
      code: "free_tier_limit_exceeded",
      headers: { "retry-after": "3", "x-should-retry": "false" },
    },
  ],
  [
    "BALANCE_EXHAUSTED",
    {},
    { status: 429, type: "insufficient_quota", code: "insufficient_quota", headers: { "x-should-retry": "false" } },
  ],
  [
    "BALANCE_HELD",
    soon,
    { status: 429, type: "rate_limit_error", code: "balance_held", headers: { "retry-after": "3" } },
  ],
  [
    "DUPLICATE_REQUEST",
    {},
    { status: 409, type: "invalid_request_error", code: "duplicate_request", headers: { "x-should-retry": "false" } },
  ],
  ["OVERLOADED", soon, { status: 503, type: "server_error", code: "overloaded", headers: { "retry-after": "3" } }],
  ["OVERLOADED", {}, { status: 503, type: "server_error", code: "overloaded", headers: { "retry-after": "1" } }],
  ["SHUTTING_DOWN", {}, { status: 503, type: "server_error", code: "overloaded", headers: { "retry-after": "1" } }],
  [
    "LEDGER_UNAVAILABLE",
    {},
    { status: 503, type: "server_error", code: "unavailable", headers: { "retry-after": "1" } },
  ],
  ["ENGINE_FAILED", {}, { status: 502, type: "server_error", code: "upstream_error" }],
  ["TIMEOUT", {}, { status: 504, type: "server_error", code: "timeout" }],
])("%s with %o", (reason, facts, expected) => {
  const { status, type, code, param = null, headers = {} } = expected;
  const answer = errorOf(refused(Reason[reason], "Why.", Code.Unknown, facts));
  expect(answer).toMatchObject({ status, headers });
  const { error } = JSON.parse(answer.body);
  expect(error).toEqual({ message: error.message, type, param, code });
});

test("an empty balance is told first, then what to do", () => {
  const { body } = errorOf(refused(Reason.BALANCE_EXHAUSTED, "insufficient", Code.ResourceExhausted));
  expect(JSON.parse(body).error.message).toMatch(/^Balance exhausted: please top up/);
});

test("a wrong key is told in words that LiteLLM looks for", () => {
  const { body } = errorOf(refused(Reason.UNAUTHENTICATED, "The API key has expired.", Code.Unauthenticated));
  expect(JSON.parse(body).error.message).toBe("Incorrect API key provided: The API key has expired.");
});

test("no key is not told as a wrong one", () => {
  const missing = refused(Reason.UNAUTHENTICATED, "No API key.", Code.Unauthenticated, { parameter: "authorization" });
  expect(JSON.parse(errorOf(missing).body).error.message).toBe("No API key.");
});

test("a context that is too small is told in words that clients look for", () => {
  const message = (facts: Parameters<typeof refused>[3]) =>
    JSON.parse(errorOf(refused(Reason.CONTEXT_LENGTH_EXCEEDED, "Too long.", Code.InvalidArgument, facts)).body).error
      .message;
  expect(message({})).toBe("Too long.");
  expect(message({ bound: { case: "tokens", value: { limit: 100n, actual: 120n } } })).toBe(
    "This model's maximum context length is 100 tokens. However, your messages resulted in 120 tokens. Please reduce the length of the messages.",
  );
  expect(message({ bound: { case: "tokens", value: { limit: 100n, actual: 120n, estimated: true } } })).toContain(
    "your messages resulted in about 120 tokens",
  );
  expect(message({ bound: { case: "tokens", value: { limit: 100n, actual: 90n, requestedOutput: 20n } } })).toBe(
    "This model's maximum context length is 100 tokens. However, you requested 110 tokens (90 in the messages, 20 in the completion). " +
      "Please reduce the length of the messages or completion.",
  );
});

test.each([
  [new RequestError(400, "m", "a.b"), 400, "invalid_value", "a.b"],
  [new RequestError(400, "m"), 400, "invalid_value", null],
  [new RequestError(404, "m"), 404, "unknown_url", null],
  [new RequestError(405, "m"), 405, "method_not_allowed", null],
  [new RequestError(408, "m"), 408, "request_timeout", null],
  [new RequestError(413, "m"), 413, "request_too_large", null],
  [new RequestError(417, "m"), 417, "expectation_failed", null],
  [new RequestError(431, "m"), 431, "headers_too_large", null],
  [new RequestError(415, "m"), 415, "unsupported_media_type", null],
])("%#: what the surface refuses by itself", (given, status, code, param) => {
  const answer = errorOf(given);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toEqual({ error: { message: "m", type: "invalid_request_error", param, code } });
});

test.each([
  [new ConnectError("refused", Code.Unavailable), 503, "unavailable"],
  [new ConnectError("late", Code.DeadlineExceeded), 504, "timeout"],
  [new ConnectError("secret", Code.Internal), 500, "internal_error"],
  [refused(Reason.SERVER_NOT_FOUND, "secret"), 500, "internal_error"],
  [new Error("secret"), 500, "internal_error"],
  ["secret", 500, "internal_error"],
])("%#: what nobody meant tells nothing of itself", (given, status, code) => {
  const answer = errorOf(given);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body).error).toMatchObject({ type: "server_error", param: null, code });
  expect(answer.body).not.toContain("secret");
});
