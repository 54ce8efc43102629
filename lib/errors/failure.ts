import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** The details of an error besides its reason and message. */
export type ErrorFacts = Omit<MessageInitShape<typeof ErrorDetailSchema>, "reason" | "$typeName">;

/** A detail that is not encoded before it is sent. */
interface OutgoingDetail {
  readonly desc: DescMessage;
  readonly value: Record<string, unknown>;
}

/** The domain of the reasons, for tools that know only google.rpc.ErrorInfo. */
const domain = "tollgate";

/**
 * An error to throw from any service. It has a status code that follows from the reason, the typed detail, and the same
 * facts as google.rpc.ErrorInfo and RetryInfo, which any gRPC tool prints and client libraries use.
 */
export function failure(reason: Reason, message: string, facts: ErrorFacts = {}, cause?: unknown): ConnectError {
  const { parameter, retryAfter } = facts;
  const info = { reason: Reason[reason], domain, metadata: parameter ? { parameter } : {} };
  const details: OutgoingDetail[] = [
    { desc: ErrorDetailSchema, value: { ...facts, reason } },
    { desc: ErrorInfoSchema, value: info },
  ];
  if (retryAfter !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: retryAfter } });
  }
  return new ConnectError(message, toCode(reason), undefined, details, cause);
}

function toCode(reason: Reason): Code {
  switch (reason) {
    case Reason.INVALID_ARGUMENT:
    case Reason.UNSUPPORTED:
    case Reason.CONTEXT_LENGTH_EXCEEDED:
    case Reason.INPUT_TOO_LONG:
      return Code.InvalidArgument; // the caller has to change the request
    case Reason.UNAUTHENTICATED:
      return Code.Unauthenticated;
    case Reason.PERMISSION_DENIED:
    case Reason.ACCOUNT_FROZEN:
      return Code.PermissionDenied;
    case Reason.MODEL_NOT_FOUND:
    case Reason.MODEL_KIND_MISMATCH:
    case Reason.ACCOUNT_NOT_FOUND:
    case Reason.KEY_NOT_FOUND:
    case Reason.RECEIPT_NOT_FOUND:
    case Reason.RECEIPT_ARCHIVED:
    case Reason.SERVER_NOT_FOUND:
    case Reason.OPERATOR_NOT_FOUND:
    case Reason.WEBHOOK_NOT_FOUND:
    case Reason.PAYMENT_NOT_FOUND:
    case Reason.MEMBER_NOT_FOUND:
    case Reason.PASSKEY_NOT_FOUND:
    case Reason.INVITATION_NOT_FOUND:
      return Code.NotFound;
    case Reason.AUTHENTICATION_THROTTLED:
    case Reason.RATE_LIMITED:
    case Reason.FREE_TIER_LIMITED:
    case Reason.BALANCE_EXHAUSTED:
    case Reason.BALANCE_HELD:
    case Reason.BUDGET_EXHAUSTED:
    case Reason.BUDGET_HELD:
    case Reason.KEY_LIMIT_REACHED:
    case Reason.REQUEST_TOO_LARGE:
      return Code.ResourceExhausted;
    case Reason.DUPLICATE_REQUEST:
    case Reason.KEY_ALREADY_MADE:
    case Reason.OPERATOR_NAME_TAKEN:
    case Reason.PAYMENT_REFERENCE_CONFLICT:
      return Code.AlreadyExists;
    case Reason.PAYMENT_BELOW_MINIMUM:
    case Reason.PAYMENT_ABOVE_MAXIMUM:
    case Reason.PAYMENT_24H_LIMIT:
    case Reason.REFUND_EXCEEDS_BALANCE:
    case Reason.KEY_STATE_CONFLICT:
    case Reason.LAST_OWNER:
    case Reason.LAST_IDENTITY:
      return Code.FailedPrecondition;
    case Reason.OVERLOADED:
    case Reason.NO_SERVER:
    case Reason.ENGINE_FAILED:
    case Reason.LEDGER_UNAVAILABLE:
    case Reason.SHUTTING_DOWN:
    case Reason.PAYMENT_PROVIDER_FAILED:
      return Code.Unavailable; // another attempt may succeed
    case Reason.TIMEOUT:
      return Code.DeadlineExceeded;
    case Reason.ARCHIVE_CHANGED:
      return Code.DataLoss;
    case Reason.UNSPECIFIED:
      return Code.Internal;
  }
}
