import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** Reasons that no request of a public surface meets: those of methods for operators, people and internal services. */
const innerReasons = [
  Reason.UNSPECIFIED,
  Reason.ACCOUNT_NOT_FOUND,
  Reason.PAYMENT_BELOW_MINIMUM,
  Reason.PAYMENT_ABOVE_MAXIMUM,
  Reason.PAYMENT_24H_LIMIT,
  Reason.PAYMENT_REFERENCE_CONFLICT,
  Reason.REFUND_EXCEEDS_BALANCE,
  Reason.SERVER_NOT_FOUND,
  Reason.KEY_STATE_CONFLICT,
  Reason.KEY_ALREADY_MADE,
  Reason.OPERATOR_NOT_FOUND,
  Reason.WEBHOOK_NOT_FOUND,
  Reason.PAYMENT_PROVIDER_FAILED,
  Reason.PAYMENT_NOT_FOUND,
  Reason.MEMBER_NOT_FOUND,
  Reason.INVITATION_NOT_FOUND,
  Reason.LAST_OWNER,
  Reason.PASSKEY_NOT_FOUND,
  Reason.LAST_IDENTITY,
  Reason.OPERATOR_NAME_TAKEN,
] as const;

/** The part of a surface's answers that is the same for all of them. */
export function forInnerReasons<Answer>(answer: Answer): Record<(typeof innerReasons)[number], Answer> {
  return Object.fromEntries(innerReasons.map((reason) => [reason, answer])) as ReturnType<
    typeof forInnerReasons<Answer>
  >;
}
