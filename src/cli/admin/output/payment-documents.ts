import { type AutoTopUp, AutoTopUpState } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { type PaymentEvent, PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { type PaymentRefund, RefundState } from "#gen/tollgate/payments/v1/refund_payment_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { time, word } from "./documents.ts";

export function paymentEventDocument(event: PaymentEvent) {
  return {
    at: time(event.at),
    outcome: word(PaymentOutcome, event.outcome),
    usd: event.amountPicoUsd === 0n ? null : formatUsd(event.amountPicoUsd),
    ref: event.reference,
    account: event.accountId === "" ? null : event.accountId,
    type: event.type,
    detail: event.detail,
    id: event.id,
  };
}

export function refundDocument(refund: PaymentRefund) {
  return {
    id: refund.id,
    account: refund.accountId,
    ref: refund.reference,
    usd: formatUsd(refund.amountPicoUsd),
    state: word(RefundState, refund.state),
    problem: refund.problem === "" ? null : refund.problem,
  };
}

/** Throws when a core's answer has none. */
export function autoTopUpDocument(autoTopUp: AutoTopUp | undefined) {
  if (autoTopUp === undefined) {
    throw new Error("the core's answer is incomplete: is it another version?");
  }
  return {
    account: autoTopUp.accountId,
    state: word(AutoTopUpState, autoTopUp.state),
    below_usd: formatUsd(autoTopUp.belowPicoUsd),
    usd: formatUsd(autoTopUp.amountPicoUsd),
    a_month_usd: formatUsd(autoTopUp.monthlyPicoUsd),
    charged_this_month_usd: formatUsd(autoTopUp.chargedPicoUsd),
    declines: autoTopUp.declines,
    not_before: time(autoTopUp.notBefore),
    problem: autoTopUp.problem === "" ? null : autoTopUp.problem,
  };
}
