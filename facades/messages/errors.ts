import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import {
  type Error as ApiError,
  type ErrorDetails,
  ErrorResponseSchema,
  ErrorType,
} from "#gen/tollgate/messages/v1/error_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { forInnerReasons } from "#lib/errors/inner-reasons.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import { encodingHeader, RequestError, type RequestErrorStatus } from "../http/request/error.ts";
import { retryAfterHeader } from "../http/response/retry-after.ts";
import type { ErrorAnswer } from "../http/routing/surface.ts";

const json = jsonEncoder(ErrorResponseSchema);

/** Translates any thrown error into this surface's answer. */
export function errorOf(error: unknown, requestId: string): ErrorAnswer {
  const { status, headers, error: told } = classify(error);
  const body = json({ $typeName: "tollgate.messages.v1.ErrorResponse", type: "error", error: told, requestId });
  return { status, body, headers };
}

/** An error in this surface's terms, before it becomes a body or an event. */
export interface Classified {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: ApiError;
}

/**
 * Classifies an error on this surface. Unexpected errors are answered without detail, so that internals do not leak.
 */
export function classify(error: unknown): Classified {
  if (error instanceof RequestError) {
    return refusal(error);
  }
  if (!(error instanceof ConnectError)) {
    return unexpected();
  }
  const detail = readDetail(error);
  if (detail !== undefined) {
    return classifyDetail(detail, error.rawMessage);
  }
  switch (error.code) {
    case Code.Unavailable: // the core cannot be reached
      return answer(503, ErrorType.API, "The service is not available at the moment.", { "retry-after": "1" });
    case Code.DeadlineExceeded:
      return answer(504, ErrorType.TIMEOUT, "The request took too long.");
    default:
      return unexpected();
  }
}

/** A refusal or failure of the core. */
interface Failure {
  readonly detail: ErrorDetail;
  readonly message: string;
  /** When a retry can succeed, if the core says. */
  readonly retry: Readonly<Record<string, string>>;
}

function classifyDetail(detail: ErrorDetail, message: string): Classified {
  const told: Failure = { detail, message, retry: retryAfterHeader(detail) };
  // A newer core may have reasons that this table does not.
  const tell: ((told: Failure) => Classified) | undefined = answers[detail.reason];
  return tell === undefined ? unexpected() : tell(told);
}

const unexpected = () => answer(500, ErrorType.API, "Internal server error.");
const invalid = ({ message }: Failure) => answer(400, ErrorType.INVALID_REQUEST, message);
const noModel = ({ message }: Failure) => answer(404, ErrorType.NOT_FOUND, message);
const limited = ({ message, retry }: Failure) => answer(429, ErrorType.RATE_LIMIT, message, retry);
const overloaded = ({ message, retry }: Failure) =>
  answer(529, ErrorType.OVERLOADED, message, { "retry-after": "1", ...retry });

/** One answer for each reason. A new reason does not compile until it has an answer here. */
const answers = {
  [Reason.INVALID_ARGUMENT]: invalid,
  [Reason.UNSUPPORTED]: invalid,
  [Reason.INPUT_TOO_LONG]: invalid,
  [Reason.CONTEXT_LENGTH_EXCEEDED]: ({ detail }) => answer(400, ErrorType.INVALID_REQUEST, contextMessage(detail)),
  [Reason.BALANCE_EXHAUSTED]: invalid, // by the interface, unlike the other surface
  [Reason.BUDGET_EXHAUSTED]: invalid,
  // Without this, Claude Code retries for minutes.
  [Reason.UNAUTHENTICATED]: ({ message }) => answer(401, ErrorType.AUTHENTICATION, message, noRetry),
  [Reason.PERMISSION_DENIED]: ({ message }) => answer(403, ErrorType.PERMISSION, message),
  [Reason.ACCOUNT_FROZEN]: ({ message }) => answer(403, ErrorType.PERMISSION, message),
  [Reason.MODEL_NOT_FOUND]: noModel,
  [Reason.MODEL_KIND_MISMATCH]: noModel,
  [Reason.REQUEST_TOO_LARGE]: ({ message }) => answer(413, ErrorType.REQUEST_TOO_LARGE, message),
  [Reason.RATE_LIMITED]: limited,
  [Reason.BALANCE_HELD]: limited,
  [Reason.BUDGET_HELD]: limited,
  [Reason.AUTHENTICATION_THROTTLED]: limited,
  // It lasts until a top-up, which no retry brings.
  [Reason.FREE_TIER_LIMITED]: ({ message, retry }) =>
    answer(429, ErrorType.RATE_LIMIT, message, { ...retry, ...noRetry }),
  // Without this, SDKs would retry it.
  [Reason.DUPLICATE_REQUEST]: ({ message }) => answer(409, ErrorType.INVALID_REQUEST, message, noRetry),
  [Reason.ENGINE_FAILED]: ({ message, retry }) => answer(502, ErrorType.API, message, retry),
  [Reason.LEDGER_UNAVAILABLE]: ({ message, retry }) =>
    answer(503, ErrorType.API, message, { "retry-after": "1", ...retry }),
  [Reason.TIMEOUT]: ({ message, retry }) => answer(504, ErrorType.TIMEOUT, message, retry),
  [Reason.OVERLOADED]: overloaded,
  [Reason.SHUTTING_DOWN]: overloaded,
  [Reason.NO_SERVER]: overloaded,
  // No request of this surface can meet these.
  ...forInnerReasons(unexpected),
  [Reason.KEY_NOT_FOUND]: unexpected,
  [Reason.KEY_LIMIT_REACHED]: unexpected,
  [Reason.RECEIPT_NOT_FOUND]: unexpected,
  [Reason.RECEIPT_ARCHIVED]: unexpected,
  [Reason.ARCHIVE_CHANGED]: unexpected,
} satisfies Record<Reason, (failure: Failure) => Classified>;

/** This surface's own refusals. Those that the SDK knows by a code are marked with it. */
function refusal({ status, message, param }: RequestError): Classified {
  switch (param) {
    case "thread": // the SDK's tool runner goes on without one
      return marked(message, "thread_unsupported_request", ["thread"]);
    case encodingHeader: // a 400 in the original, since the SDK knows the code with this status alone
      return marked(message, "request_body_encoding_unsupported");
    default:
      return answer(status, refusalTypes[status], message);
  }
}

function marked(message: string, errorCode: string, unsupported: string[] = []): Classified {
  const plain = answer(400, ErrorType.INVALID_REQUEST, message);
  const details: ErrorDetails = { $typeName: "tollgate.messages.v1.ErrorDetails", errorCode, unsupported };
  return { ...plain, error: { ...plain.error, details } };
}

const refusalTypes = {
  400: ErrorType.INVALID_REQUEST,
  404: ErrorType.NOT_FOUND,
  405: ErrorType.INVALID_REQUEST,
  408: ErrorType.TIMEOUT,
  413: ErrorType.REQUEST_TOO_LARGE,
  415: ErrorType.INVALID_REQUEST,
  417: ErrorType.INVALID_REQUEST,
  431: ErrorType.INVALID_REQUEST,
} satisfies Record<RequestErrorStatus, ErrorType>;

/**
 * The wording that coding agents look for: they shorten the conversation, or ask for less. It is also used for engines
 * that refuse a prompt without counting it, and for those that do not report their limit.
 */
function contextMessage(detail: ErrorDetail): string {
  const { limit, actual, requestedOutput, estimated } = readTokenBound(detail);
  if (limit === undefined) {
    return "prompt is too long: it exceeds the context of this model";
  }
  if (actual === undefined) {
    return `prompt is too long: the maximum is ${limit} tokens`;
  }
  return actual >= limit || requestedOutput === undefined
    ? `prompt is too long: ${estimated ? "about " : ""}${actual} tokens > ${limit} maximum`
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
