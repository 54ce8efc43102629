import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import {
  type Error as ApiError,
  type ErrorDetails,
  ErrorResponseSchema,
  ErrorType,
} from "#gen/tollgate/messages/v1/error_pb.js";
import { detailOf, tokenBoundOf } from "../../lib/errors/detail.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import { RequestError } from "../http/request/error.ts";
import { retryAfterHeader } from "../http/response/retry-after.ts";
import type { ErrorAnswer } from "../http/routing/mount-routes.ts";

const json = jsonEncoder(ErrorResponseSchema);

/** Whatever was thrown, as this surface answers it. */
export function errorOf(error: unknown, requestId: string): ErrorAnswer {
  const { status, headers, error: told } = classify(error);
  const body = json({ $typeName: "tollgate.messages.v1.ErrorResponse", type: "error", error: told, requestId });
  return { status, body, headers };
}

/** An error in this surface's words, before it becomes a body or an event. */
export interface Classified {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: ApiError;
}

/** Tells what an error is on this surface. One that nobody meant tells nothing of itself. */
export function classify(error: unknown): Classified {
  if (error instanceof RequestError) return refusal(error);
  if (!(error instanceof ConnectError)) return answer(500, ErrorType.API, "Internal server error.");
  const detail = detailOf(error);
  if (detail !== undefined) return classifyDetail(detail, error.rawMessage);
  switch (error.code) {
    case Code.Unavailable: // the core cannot be reached
      return answer(503, ErrorType.API, "The service is not available at the moment.", { "retry-after": "1" });
    case Code.DeadlineExceeded:
      return answer(504, ErrorType.TIMEOUT, "The request took too long.");
    default:
      return answer(500, ErrorType.API, "Internal server error.");
  }
}

function classifyDetail(detail: ErrorDetail, message: string): Classified {
  const retry = retryAfterHeader(detail);
  switch (detail.reason) {
    case Reason.INVALID_ARGUMENT:
    case Reason.UNSUPPORTED:
    case Reason.INPUT_TOO_LONG:
      return answer(400, ErrorType.INVALID_REQUEST, message);
    case Reason.CONTEXT_LENGTH_EXCEEDED:
      return answer(400, ErrorType.INVALID_REQUEST, contextMessage(detail));
    case Reason.BALANCE_EXHAUSTED:
      return answer(400, ErrorType.INVALID_REQUEST, message); // by the interface, unlike the other surface
    case Reason.UNAUTHENTICATED:
      return answer(401, ErrorType.AUTHENTICATION, message, noRetry); // else Claude Code tries for minutes
    case Reason.PERMISSION_DENIED:
      return answer(403, ErrorType.PERMISSION, message);
    case Reason.MODEL_NOT_FOUND:
    case Reason.MODEL_KIND_MISMATCH:
      return answer(404, ErrorType.NOT_FOUND, message);
    case Reason.REQUEST_TOO_LARGE:
      return answer(413, ErrorType.REQUEST_TOO_LARGE, message);
    case Reason.RATE_LIMITED:
    case Reason.BALANCE_HELD:
    case Reason.AUTHENTICATION_THROTTLED:
      return answer(429, ErrorType.RATE_LIMIT, message, retry);
    case Reason.FREE_TIER_LIMITED:
      return answer(429, ErrorType.RATE_LIMIT, message, { ...retry, ...noRetry }); // until a top-up
    case Reason.DUPLICATE_REQUEST:
      return answer(409, ErrorType.INVALID_REQUEST, message, noRetry); // which SDKs would retry otherwise
    case Reason.ENGINE_FAILED:
      return answer(502, ErrorType.API, message, retry);
    case Reason.LEDGER_UNAVAILABLE:
      return answer(503, ErrorType.API, message, { "retry-after": "1", ...retry });
    case Reason.TIMEOUT:
      return answer(504, ErrorType.TIMEOUT, message, retry);
    case Reason.OVERLOADED:
    case Reason.SHUTTING_DOWN:
      return answer(529, ErrorType.OVERLOADED, message, { "retry-after": "1", ...retry });
    default: // nothing that a request of this surface can meet
      return answer(500, ErrorType.API, "Internal server error.");
  }
}

/** What this surface refuses by itself. A refused thread is told so that the SDK's tool runner goes on without one. */
function refusal(error: RequestError): Classified {
  const plain = answer(error.status, typeOf(error), error.message);
  return error.param === "thread" ? { ...plain, error: { ...plain.error, details: noThreads } } : plain;
}

const noThreads: ErrorDetails = {
  $typeName: "tollgate.messages.v1.ErrorDetails",
  errorCode: "thread_unsupported_request",
  unsupported: ["thread"],
};

function typeOf({ status }: RequestError): ErrorType {
  switch (status) {
    case 404:
      return ErrorType.NOT_FOUND;
    case 408:
      return ErrorType.TIMEOUT;
    case 413:
      return ErrorType.REQUEST_TOO_LARGE;
    case 400:
    case 405:
    case 415:
    case 417:
    case 431:
      return ErrorType.INVALID_REQUEST;
  }
}

/**
 * In words that coding agents look for: they shorten the conversation, or ask for less. Engines that refuse a
 * prompt without counting it, and those that do not tell their limit, are put into the same words.
 */
function contextMessage(detail: ErrorDetail): string {
  const { limit, actual, requestedOutput } = tokenBoundOf(detail);
  if (limit === undefined) return "prompt is too long: it exceeds the context of this model";
  if (actual === undefined) return `prompt is too long: the maximum is ${limit} tokens`;
  return actual >= limit || requestedOutput === undefined
    ? `prompt is too long: ${actual} tokens > ${limit} maximum`
    : `input length and \`max_tokens\` exceed context limit: ${actual} + ${requestedOutput} > ${limit}, ` +
        "decrease input length or `max_tokens` and try again";
}

const noRetry = { "x-should-retry": "false" };

function answer(
  status: number,
  type: ErrorType,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Classified {
  return { status, headers, error: { $typeName: "tollgate.messages.v1.Error", type, message } };
}
