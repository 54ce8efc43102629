import type Stripe from "stripe";
import type { Found } from "../provider.ts";
import { fromCents } from "./amounts.ts";

/** The names of our marks in Stripe's metadata. */
export const marks = { account: "account_id", order: "tollgate_order" } as const;

const toId = (value: string | { readonly id: string } | null | undefined) =>
  typeof value === "string" ? value : value?.id;

/** A checkout session. Its credit is what was bought: the total without taxes. */
export function readSession(session: Stripe.Checkout.Session): Found {
  const { id, metadata, payment_status, payment_intent, amount_subtotal, amount_total, currency, status } = session;
  const isPaid = payment_status === "paid";
  return {
    state: isPaid ? "paid" : status === "expired" ? "closed" : "open",
    reference: toId(payment_intent) ?? (isPaid ? id : undefined),
    accountId: metadata?.[marks.account],
    order: metadata?.[marks.order],
    currency: currency ?? "",
    credit: fromCents(amount_subtotal ?? amount_total),
    charged: fromCents(amount_total),
  };
}

/** A payment without a session of ours: the operator's own page, or a charge of a saved card. */
export function readIntent({ id, metadata, amount_received, currency, status }: Stripe.PaymentIntent): Found {
  const amount = fromCents(amount_received);
  return {
    state: status === "succeeded" ? "paid" : status === "canceled" ? "closed" : "open",
    reference: id,
    accountId: metadata?.[marks.account],
    order: metadata?.[marks.order],
    currency: currency ?? "",
    credit: amount,
    charged: amount,
  };
}
