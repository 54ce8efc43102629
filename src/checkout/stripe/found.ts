import type Stripe from "stripe";
import type { Found } from "../provider.ts";
import { fromCents } from "./amounts.ts";

/** The names of our marks in Stripe's metadata. */
export const marks = { account: "account_id", order: "tollgate_order" } as const;

/** A text of an answer, which may have another shape than the library's types say. */
const toText = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** The id of what is named, or there itself. */
export const toId = (value: unknown) =>
  toText(value) ?? toText((value as { readonly id?: unknown } | null | undefined)?.id);

const toMark = (metadata: unknown, name: string) =>
  toText((metadata as Readonly<Record<string, unknown>> | null | undefined)?.[name]);

/** A checkout session. Its credit is what was bought: the total without taxes. */
export function readSession(session: Stripe.Checkout.Session): Found {
  const { id, metadata, payment_status, payment_intent, amount_subtotal, amount_total, currency, status } = session;
  const isPaid = payment_status === "paid";
  return {
    state: isPaid ? "paid" : status === "expired" ? "closed" : "open",
    reference: toId(payment_intent) ?? (isPaid ? toText(id) : undefined),
    accountId: toMark(metadata, marks.account),
    order: toMark(metadata, marks.order),
    currency: toText(currency) ?? "",
    credit: fromCents(amount_subtotal ?? amount_total),
    charged: fromCents(amount_total),
  };
}

/** Whether the payment of a completed session has failed: nobody can pay it again on Stripe's page. */
export const hasFailed = ({ status }: Pick<Stripe.PaymentIntent, "status">) =>
  status === "requires_payment_method" || status === "canceled";

/** A payment without a session of ours: the operator's own page, or a charge of a saved card. */
export function readIntent({ id, metadata, amount_received, currency, status }: Stripe.PaymentIntent): Found {
  const amount = fromCents(amount_received);
  return {
    state: status === "succeeded" ? "paid" : status === "canceled" ? "closed" : "open",
    reference: toText(id),
    accountId: toMark(metadata, marks.account),
    order: toMark(metadata, marks.order),
    currency: toText(currency) ?? "",
    credit: amount,
    charged: amount,
  };
}
