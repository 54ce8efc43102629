import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorResponseSchema } from "#gen/tollgate/chat/v1/error_pb.js";
import { type ErrorDetail, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { forInnerReasons } from "#lib/errors/inner-reasons.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import { RequestError, type RequestErrorStatus } from "../http/request/error.ts";
import { retryAfterHeader } from "../http/response/retry-after.ts";
import type { ErrorAnswer } from "../http/routing/surface.ts";
import { toParam } from "./param.ts";

const writeError = jsonEncoder(ErrorResponseSchema);

/**
 * Translates any thrown error into this surface's answer. Unexpected errors are answered without detail, so that
 * internals do not leak.
 */
export function errorOf(error: unknown): ErrorAnswer {
  if (error instanceof RequestError) {
    return refusal(error);
  }
  const detail = readDetail(error);
  if (detail !== undefined && error instanceof ConnectError) {
    return failure(detail, error.rawMessage);
  }
  switch (error instanceof ConnectError ? error.code : Code.Internal) {
    case Code.Unavailable: // the core cannot be reached
      return answer(503, "server_error", "unavailable", "The service is not available at the moment.", {
        headers: { "retry-after": "1" },
      });
    case Code.DeadlineExceeded:
      return answer(504, "server_error", "timeout", "The request took too long.");
    default:
      return unexpected();
  }
}

/** Codes of this surface's own refusals. */
const refusalCodes = {
  400: "invalid_value",
  404: "unknown_url",
  405: "method_not_allowed",
  408: "request_timeout",
  413: "request_too_large",
  415: "unsupported_media_type",
  417: "expectation_failed",
  431: "headers_too_large",
} satisfies Record<RequestErrorStatus, string>;

function refusal({ status, message, param }: RequestError): ErrorAnswer {
  return answer(status, "invalid_request_error", refusalCodes[status], message, status === 400 ? { param } : {});
}

/** A refusal or failure of the core. */
interface Failure {
  readonly detail: ErrorDetail;
  readonly message: string;
  /** When a retry can succeed, if the core says. */
  readonly headers: Readonly<Record<string, string>>;
}

function failure(detail: ErrorDetail, message: string): ErrorAnswer {
  const told: Failure = { detail, message, headers: retryAfterHeader(detail) };
  // A newer core may have reasons that this table does not.
  const tell: ((told: Failure) => ErrorAnswer) | undefined = answers[detail.reason];
  return tell === undefined ? unexpected() : tell(told);
}

const unexpected = () => answer(500, "server_error", "internal_error", "Internal server error.");
const invalidValue = ({ detail, message }: Failure) =>
  answer(400, "invalid_request_error", "invalid_value", message, { param: toParam(detail.parameter) });
const noModel = ({ message }: Failure) =>
  answer(404, "invalid_request_error", "model_not_found", message, { param: "model" });
const limited = ({ message, headers }: Failure) =>
  answer(429, "rate_limit_error", "rate_limit_exceeded", message, { headers });
const overloaded = ({ message, headers }: Failure) =>
  answer(503, "server_error", "overloaded", message, { headers: { "retry-after": "1", ...headers } });
const unavailable = ({ message, headers }: Failure) =>
  answer(503, "server_error", "unavailable", message, { headers: { "retry-after": "1", ...headers } });

/** One answer for each reason. A new reason does not compile until it has an answer here. */
const answers = {
  [Reason.INVALID_ARGUMENT]: invalidValue,
  [Reason.UNSUPPORTED]: invalidValue,
  [Reason.CONTEXT_LENGTH_EXCEEDED]: ({ detail, message }) =>
    answer(400, "invalid_request_error", "context_length_exceeded", contextMessage(detail, message), {
      param: toParam(detail.parameter) || "messages",
    }),
  [Reason.INPUT_TOO_LONG]: ({ message }) =>
    answer(400, "invalid_request_error", "context_length_exceeded", message, { param: "input" }),
  [Reason.UNAUTHENTICATED]: ({ detail, message }) => {
    const isMissing = detail.parameter === "authorization";
    return answer(401, "invalid_request_error", "invalid_api_key", isMissing ? message : wrongKey(message), {
      headers: noRetry,
    });
  },
  [Reason.PERMISSION_DENIED]: ({ message }) => answer(403, "invalid_request_error", "permission_denied", message),
  [Reason.RECEIPT_NOT_FOUND]: ({ message }) =>
    answer(404, "invalid_request_error", "generation_not_found", message, { param: "id" }),
  [Reason.RECEIPT_ARCHIVED]: ({ message }) =>
    answer(410, "invalid_request_error", "generation_archived", message, { param: "id" }),
  [Reason.ARCHIVE_CHANGED]: ({ message }) =>
    answer(500, "api_error", "archive_changed", message, { param: "id", headers: noRetry }),
  [Reason.ACCOUNT_FROZEN]: ({ message }) => answer(403, "permission_error", "account_frozen", message),
  [Reason.MODEL_NOT_FOUND]: noModel,
  [Reason.MODEL_KIND_MISMATCH]: noModel,
  [Reason.DUPLICATE_REQUEST]: ({ message }) =>
    answer(409, "invalid_request_error", "duplicate_request", message, { headers: noRetry }),
  [Reason.REQUEST_TOO_LARGE]: ({ message }) => answer(413, "invalid_request_error", "request_too_large", message),
  [Reason.RATE_LIMITED]: limited,
  [Reason.AUTHENTICATION_THROTTLED]: limited,
  [Reason.BALANCE_HELD]: ({ message, headers }) =>
    answer(429, "rate_limit_error", "balance_held", message, { headers }),
  // It lasts until a top-up, which no retry brings.
  [Reason.FREE_TIER_LIMITED]: ({ message, headers }) =>
    answer(429, "rate_limit_error", "free_tier_limit_exceeded", message, { headers: { ...headers, ...noRetry } }),
  [Reason.BALANCE_EXHAUSTED]: () =>
    answer(429, "insufficient_quota", "insufficient_quota", exhausted, { headers: noRetry }),
  // It lasts until the next period, or a higher limit.
  [Reason.BUDGET_EXHAUSTED]: ({ message }) =>
    answer(429, "insufficient_quota", "insufficient_quota", message, { headers: noRetry }),
  [Reason.BUDGET_HELD]: ({ message, headers }) => answer(429, "rate_limit_error", "budget_held", message, { headers }),
  [Reason.ENGINE_FAILED]: ({ message, headers }) => answer(502, "server_error", "upstream_error", message, { headers }),
  [Reason.OVERLOADED]: overloaded,
  [Reason.SHUTTING_DOWN]: overloaded,
  [Reason.LEDGER_UNAVAILABLE]: unavailable,
  [Reason.NO_SERVER]: unavailable,
  [Reason.TIMEOUT]: ({ message, headers }) => answer(504, "server_error", "timeout", message, { headers }),
  [Reason.KEY_NOT_FOUND]: ({ message }) => answer(404, "invalid_request_error", "key_not_found", message),
  [Reason.KEY_LIMIT_REACHED]: ({ message }) => answer(403, "permission_error", "key_limit_reached", message),
  // No request of this surface can meet these.
  ...forInnerReasons(unexpected),
} satisfies Record<Reason, (failure: Failure) => ErrorAnswer>;

const exhausted =
  "Balance exhausted: please top up your account. Requests are accepted again within about a minute after a top-up.";

/** Keeps SDKs from retries that cannot succeed. */
const noRetry = { "x-should-retry": "false" };

/** The wording by which LiteLLM, and tools built on it, distinguish a wrong key from a bad request. */
function wrongKey(message: string): string {
  return `Incorrect API key provided: ${message}`;
}

/** The wording that clients look for to shorten the conversation. */
function contextMessage(detail: ErrorDetail, message: string): string {
  const { limit, actual, requestedOutput, estimated } = readTokenBound(detail);
  if (limit === undefined || actual === undefined) {
    return message;
  }
  const start = `This model's maximum context length is ${limit} tokens. However, `;
  return requestedOutput === undefined || actual >= limit
    ? `${start}your messages resulted in ${estimated ? "about " : ""}${actual} tokens. Please reduce the length of the messages.`
    : `${start}you requested ${actual + requestedOutput} tokens (${actual} in the messages, ${requestedOutput} in the ` +
        "completion). Please reduce the length of the messages or completion.";
}

function answer(
  status: number,
  type: string,
  code: string,
  message: string,
  more: { readonly param?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): ErrorAnswer {
  const param = more.param ? { param: more.param } : {};
  const body = writeError({
    $typeName: "tollgate.chat.v1.ErrorResponse",
    error: { $typeName: "tollgate.chat.v1.Error", message, type, ...param, code },
  });
  return { status, body, headers: more.headers ?? {} };
}
