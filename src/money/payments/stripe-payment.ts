import type Stripe from "stripe";

/** Money that a payment provider has taken for an account. */
export interface Payment {
  readonly accountId: string;
  readonly amountPicoUsd: bigint;
  /** The provider's id of the payment. The same one is never credited twice. */
  readonly reference: string;
}

/** The action for an event. A refusal needs a person: no retry changes it. */
export type Outcome = { readonly payment: Payment } | { readonly ignored: string } | { readonly refused: string };

const picoUsdACent = 10_000_000_000n;

/**
 * Reads Stripe's `checkout.session.completed` and `payment_intent.succeeded`. Both events of one payment give the same
 * reference, the payment intent's id. Events without `metadata.account_id` are not for this service.
 */
export function readStripeEvent(event: Stripe.Event): Outcome {
  if (typeof event?.data?.object !== "object" || event.data.object === null) {
    return { refused: "a signed event of a shape that is not known here" };
  }
  switch (event.type) {
    case "checkout.session.completed": {
      const { metadata, payment_status, payment_intent, amount_total, currency, id } = event.data.object;
      if (payment_status !== "paid") {
        return { ignored: `the session is ${payment_status}` };
      }
      const intent = typeof payment_intent === "string" ? payment_intent : payment_intent?.id;
      return readPayment(metadata, amount_total, currency, intent ?? id);
    }
    case "payment_intent.succeeded": {
      const { metadata, amount_received, currency, id } = event.data.object;
      return readPayment(metadata, amount_received, currency, id);
    }
    default:
      return { ignored: `events of type ${event.type} move no money here` };
  }
}

function readPayment(
  metadata: Stripe.Metadata | null,
  cents: number | null,
  currency: string | null,
  reference: string,
): Outcome {
  const accountId = metadata?.account_id;
  if (accountId === undefined) {
    return { ignored: "the payment names no account in metadata.account_id" };
  }
  if (currency !== "usd") {
    return { refused: `${reference}: only USD are taken, not ${currency}` };
  }
  if (cents === null || !Number.isSafeInteger(cents) || cents <= 0) {
    return { refused: `${reference}: no amount` };
  }
  return { payment: { accountId, amountPicoUsd: BigInt(cents) * picoUsdACent, reference } };
}
