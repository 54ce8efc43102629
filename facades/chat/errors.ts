import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorResponseSchema } from "#gen/tollgate/chat/v1/error_pb.js";
import { type ErrorDetail, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf, tokenBoundOf } from "../../lib/errors/detail.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import { RequestError } from "../http/request/error.ts";
import { retryAfterHeader } from "../http/response/retry-after.ts";
import type { ErrorAnswer } from "../http/routing/mount-routes.ts";
import { paramOf } from "./param.ts";

const writeError = jsonEncoder(ErrorResponseSchema);

/** Whatever was thrown, as this surface answers it. An error that nobody meant tells nothing of itself. */
export function errorOf(error: unknown): ErrorAnswer {
  if (error instanceof RequestError) return refusal(error);
  const detail = detailOf(error);
  if (detail !== undefined && error instanceof ConnectError) return failure(detail, error.rawMessage);
  switch (error instanceof ConnectError ? error.code : Code.Internal) {
    case Code.Unavailable: // the core cannot be reached
      return answer(503, "server_error", "unavailable", "The service is not available at the moment.", {
        headers: { "retry-after": "1" },
      });
    case Code.DeadlineExceeded:
      return answer(504, "server_error", "timeout", "The request took too long.");
    default:
      return answer(500, "server_error", "internal_error", "Internal server error.");
  }
}

/** What this surface refuses by itself. */
function refusal({ status, message, param }: RequestError): ErrorAnswer {
  switch (status) {
    case 400:
      return answer(400, "invalid_request_error", "invalid_value", message, { param });
    case 404:
      return answer(404, "invalid_request_error", "unknown_url", message);
    case 405:
      return answer(405, "invalid_request_error", "method_not_allowed", message);
    case 408:
      return answer(408, "invalid_request_error", "request_timeout", message);
    case 413:
      return answer(413, "invalid_request_error", "request_too_large", message);
    case 415:
      return answer(415, "invalid_request_error", "unsupported_media_type", message);
    case 417:
      return answer(417, "invalid_request_error", "expectation_failed", message);
    case 431:
      return answer(431, "invalid_request_error", "headers_too_large", message);
  }
}

/** What the core refuses or fails at. */
function failure(detail: ErrorDetail, message: string): ErrorAnswer {
  const param = paramOf(detail.parameter);
  const headers = retryAfterHeader(detail);
  switch (detail.reason) {
    case Reason.INVALID_ARGUMENT:
    case Reason.UNSUPPORTED:
      return answer(400, "invalid_request_error", "invalid_value", message, { param });
    case Reason.CONTEXT_LENGTH_EXCEEDED:
      return answer(400, "invalid_request_error", "context_length_exceeded", contextMessage(detail, message), {
        param: param === "" ? "messages" : param,
      });
    case Reason.INPUT_TOO_LONG:
      return answer(400, "invalid_request_error", "context_length_exceeded", message, { param: "input" });
    case Reason.UNAUTHENTICATED:
      return answer(401, "invalid_request_error", "invalid_api_key", wrongKey(message), { headers: noRetry });
    case Reason.PERMISSION_DENIED:
      return answer(403, "invalid_request_error", "permission_denied", message);
    case Reason.MODEL_NOT_FOUND:
    case Reason.MODEL_KIND_MISMATCH:
      return answer(404, "invalid_request_error", "model_not_found", message, { param: "model" });
    case Reason.DUPLICATE_REQUEST:
      return answer(409, "invalid_request_error", "duplicate_request", message, { headers: noRetry });
    case Reason.REQUEST_TOO_LARGE:
      return answer(413, "invalid_request_error", "request_too_large", message);
    case Reason.RATE_LIMITED:
    case Reason.AUTHENTICATION_THROTTLED:
      return answer(429, "rate_limit_error", "rate_limit_exceeded", message, { headers });
    case Reason.BALANCE_HELD:
      return answer(429, "rate_limit_error", "balance_held", message, { headers });
    case Reason.FREE_TIER_LIMITED: // until a top-up, which no retry brings
      return answer(429, "rate_limit_error", "free_tier_limit_exceeded", message, {
        headers: { ...headers, ...noRetry },
      });
    case Reason.BALANCE_EXHAUSTED:
      return answer(429, "insufficient_quota", "insufficient_quota", exhausted, { headers: noRetry });
    case Reason.ENGINE_FAILED:
      return answer(502, "server_error", "upstream_error", message, { headers });
    case Reason.OVERLOADED:
    case Reason.SHUTTING_DOWN:
      return answer(503, "server_error", "overloaded", message, { headers: { "retry-after": "1", ...headers } });
    case Reason.LEDGER_UNAVAILABLE:
      return answer(503, "server_error", "unavailable", message, { headers: { "retry-after": "1", ...headers } });
    case Reason.TIMEOUT:
      return answer(504, "server_error", "timeout", message, { headers });
    default: // nothing that a request of this surface can meet
      return answer(500, "server_error", "internal_error", "Internal server error.");
  }
}

const exhausted =
  "Balance exhausted: please top up your account. Requests are accepted again within about a minute after a top-up.";

/** Keeps SDKs from retries that cannot succeed. */
const noRetry = { "x-should-retry": "false" };

/** In the words by which LiteLLM, and what is built on it, tells a wrong key from a bad request. */
function wrongKey(message: string): string {
  return `Incorrect API key provided: ${message}`;
}

/** In the words that clients look for to shorten the conversation. */
function contextMessage(detail: ErrorDetail, message: string): string {
  const { limit, actual, requestedOutput } = tokenBoundOf(detail);
  if (limit === undefined || actual === undefined) return message;
  const start = `This model's maximum context length is ${limit} tokens. However, `;
  return requestedOutput === undefined || actual >= limit
    ? `${start}your messages resulted in ${actual} tokens. Please reduce the length of the messages.`
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
