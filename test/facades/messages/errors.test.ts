import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { TokenBoundFacts } from "#lib/errors/detail.ts";
import { type ErrorFacts, failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import { RequestError } from "../../../facades/http/request/error.ts";
import { errorOf } from "../../../facades/messages/errors.ts";

function answerTo(error: unknown) {
  const { status, body, headers } = errorOf(error, "req_r1");
  const { type, error: told, request_id } = JSON.parse(body);
  expect(type).toBe("error");
  expect(request_id).toBe("req_r1");
  return { status, type: told.type, message: told.message, headers };
}

const soon: ErrorFacts = { retryAfter: toDuration(2_400) };

test.each<[Reason, number, string, ErrorFacts, Record<string, string>]>([
  [Reason.INVALID_ARGUMENT, 400, "invalid_request_error", {}, {}],
  [Reason.UNSUPPORTED, 400, "invalid_request_error", {}, {}],
  [Reason.INPUT_TOO_LONG, 400, "invalid_request_error", {}, {}],
  [Reason.CONTEXT_LENGTH_EXCEEDED, 400, "invalid_request_error", {}, {}],
  [Reason.BALANCE_EXHAUSTED, 400, "invalid_request_error", {}, {}],
  [Reason.UNAUTHENTICATED, 401, "authentication_error", {}, { "x-should-retry": "false" }],
  [Reason.ACCOUNT_FROZEN, 403, "permission_error", {}, {}],
  [Reason.PERMISSION_DENIED, 403, "permission_error", {}, {}],
  [Reason.MODEL_NOT_FOUND, 404, "not_found_error", {}, {}],
  [Reason.MODEL_KIND_MISMATCH, 404, "not_found_error", {}, {}],
  [Reason.DUPLICATE_REQUEST, 409, "invalid_request_error", {}, { "x-should-retry": "false" }],
  [Reason.REQUEST_TOO_LARGE, 413, "request_too_large", {}, {}],
  [Reason.RATE_LIMITED, 429, "rate_limit_error", soon, { "retry-after": "3" }],
  [Reason.BALANCE_HELD, 429, "rate_limit_error", soon, { "retry-after": "3" }],
  [Reason.AUTHENTICATION_THROTTLED, 429, "rate_limit_error", soon, { "retry-after": "3" }],
  [Reason.FREE_TIER_LIMITED, 429, "rate_limit_error", soon, { "retry-after": "3", "x-should-retry": "false" }],
  [Reason.ENGINE_FAILED, 502, "api_error", {}, {}],
  [Reason.LEDGER_UNAVAILABLE, 503, "api_error", soon, { "retry-after": "3" }],
  [Reason.LEDGER_UNAVAILABLE, 503, "api_error", {}, { "retry-after": "1" }],
  [Reason.TIMEOUT, 504, "timeout_error", {}, {}],
  [Reason.OVERLOADED, 529, "overloaded_error", soon, { "retry-after": "3" }],
  [Reason.SHUTTING_DOWN, 529, "overloaded_error", {}, { "retry-after": "1" }],
])("reason %j is %i %s", (reason, status, type, facts, headers) => {
  const { message, ...rest } = answerTo(failure(reason, "So it is.", facts));
  expect(rest).toEqual({ status, type, headers });
  expect(message).toMatch(reason === Reason.CONTEXT_LENGTH_EXCEEDED ? /^prompt is too long/ : /^So it is\.$/);
});

test.each<[number, Record<string, string>]>([
  [0, { "retry-after": "1" }],
  [1, { "retry-after": "1" }],
  [1_000, { "retry-after": "1" }],
  [1_001, { "retry-after": "2" }],
  [59_000, { "retry-after": "59" }],
  [59_001, { "retry-after": "60", "retry-after-ms": "59001" }],
  [60_000, { "retry-after": "60", "retry-after-ms": "59999" }],
  [90_000, { "retry-after": "60", "retry-after-ms": "59999" }],
])("a delay of %i ms is %j", (ms, expected) => {
  const { headers } = answerTo(failure(Reason.RATE_LIMITED, "", { retryAfter: toDuration(ms) }));
  expect(headers).toEqual(expected);
});

test.each<[TokenBoundFacts, string]>([
  [{ limit: 100n, actual: 120n }, "prompt is too long: 120 tokens > 100 maximum"],
  [{ limit: 100n, actual: 120n, estimated: true }, "prompt is too long: about 120 tokens > 100 maximum"],
  [{ limit: 100n, actual: 120n, requestedOutput: 50n }, "prompt is too long: 120 tokens > 100 maximum"],
  [
    { limit: 100n, actual: 80n, requestedOutput: 50n },
    "input length and `max_tokens` exceed context limit: 80 + 50 > 100, decrease input length or `max_tokens` and try again",
  ],
  [{ limit: 300n }, "prompt is too long: the maximum is 300 tokens"],
  [{ limit: 300n, requestedOutput: 50n }, "prompt is too long: the maximum is 300 tokens"],
  [{}, "prompt is too long: it exceeds the context of this model"],
])("a context passed by %j", (facts, message) => {
  const error = failure(Reason.CONTEXT_LENGTH_EXCEEDED, "As the engine says.", {
    bound: { case: "tokens", value: facts },
  });
  expect(answerTo(error).message).toBe(message);
});

test.each([
  [400, "invalid_request_error"],
  [404, "not_found_error"],
  [405, "invalid_request_error"],
  [408, "timeout_error"],
  [413, "request_too_large"],
  [417, "invalid_request_error"],
  [431, "invalid_request_error"],
  [415, "invalid_request_error"],
] as const)("a request refused with %i is a %s", (status, type) => {
  const error = new RequestError(status, "No.", "messages");
  expect(answerTo(error)).toEqual({ status, type, message: "No.", headers: {} });
});

test.each<[string, unknown, number, string]>([
  ["an Error", new Error("a secret"), 500, "api_error"],
  ["a string", "a secret", 500, "api_error"],
  ["nothing", undefined, 500, "api_error"],
  ["INTERNAL", new ConnectError("a secret", Code.Internal), 500, "api_error"],
  ["another service's reason", failure(Reason.ACCOUNT_NOT_FOUND, "a secret"), 500, "api_error"],
  ["UNAVAILABLE", new ConnectError("a secret", Code.Unavailable), 503, "api_error"],
  ["DEADLINE_EXCEEDED", new ConnectError("a secret", Code.DeadlineExceeded), 504, "timeout_error"],
])("%s, which nobody meant, tells nothing", (_, error, status, type) => {
  const answer = answerTo(error);
  expect(answer).toMatchObject({ status, type });
  expect(answer.message).not.toContain("secret");
});
