import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AutoTopUpSchema, AutoTopUpState } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { CheckoutState, type GetCheckoutResponseSchema } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { type PaymentEventSchema, PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { type PaymentRefundSchema, RefundState } from "#gen/tollgate/payments/v1/refund_payment_pb.js";
import type { Setting } from "#src/checkout/auto-top-up/settings.ts";
import type { MadeRefund } from "#src/checkout/returns/refunds.ts";
import type { PaymentEvent } from "#src/storage/entities/checkout/payment-event.ts";
import type { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";

/** The place of an event in its list. */
export const toEventKey = ({ id, at }: PaymentEvent) => `${at.getTime()} ${id}`;
export const isEventKey = (key: string) => /^\d{1,15} \S+$/.test(key);

const checkoutStates: Readonly<Record<ProviderPayment["state"], CheckoutState>> = {
  open: CheckoutState.OPEN,
  paid: CheckoutState.PAID,
  credited: CheckoutState.CREDITED,
  expired: CheckoutState.EXPIRED,
  declined: CheckoutState.EXPIRED,
};

export function checkoutMessage(payment: ProviderPayment): MessageInitShape<typeof GetCheckoutResponseSchema> {
  const { accountId, state, amount, reference, problem } = payment;
  return {
    accountId,
    state: checkoutStates[state],
    amountPicoUsd: BigInt(amount),
    reference: reference ?? "",
    problem: problem ?? "",
  };
}

const autoTopUpStates = {
  off: AutoTopUpState.OFF,
  on: AutoTopUpState.ON,
  declined: AutoTopUpState.DECLINED,
} as const;

export function autoTopUpMessage(
  accountId: string,
  setting: Setting | undefined,
): MessageInitShape<typeof AutoTopUpSchema> {
  if (setting === undefined) {
    return { accountId, state: AutoTopUpState.OFF };
  }
  const { state, below, amount, monthly, charged, declines, notBefore, problem = "" } = setting;
  return {
    accountId,
    state: autoTopUpStates[state],
    belowPicoUsd: BigInt(below),
    amountPicoUsd: BigInt(amount),
    monthlyPicoUsd: BigInt(monthly),
    chargedPicoUsd: charged,
    declines,
    problem,
    ...(notBefore ? { notBefore: timestampFromDate(notBefore) } : {}),
  };
}

const refundStates = {
  asked: RefundState.PENDING,
  withdrawn: RefundState.PENDING,
  done: RefundState.DONE,
  refused: RefundState.FAILED,
  returned: RefundState.FAILED,
} as const;

export function refundMessage(refund: MadeRefund): MessageInitShape<typeof PaymentRefundSchema> {
  const { id, accountId, reference, amount, state, problem } = refund;
  return {
    id,
    accountId,
    reference,
    amountPicoUsd: BigInt(amount),
    state: refundStates[state],
    problem: problem ?? "",
  };
}

const outcomes = {
  credited: PaymentOutcome.CREDITED,
  withdrawn: PaymentOutcome.WITHDRAWN,
  unmatched: PaymentOutcome.UNMATCHED,
  refused: PaymentOutcome.REFUSED,
  postponed: PaymentOutcome.POSTPONED,
} as const;

export function paymentEventMessage(event: PaymentEvent): MessageInitShape<typeof PaymentEventSchema> {
  const { id, type, at, reference, accountId, amount, outcome, detail } = event;
  return {
    ...{ id, type, reference, detail },
    at: timestampFromDate(at),
    accountId: accountId ?? "",
    amountPicoUsd: BigInt(amount ?? 0),
    outcome: outcomes[outcome],
  };
}
