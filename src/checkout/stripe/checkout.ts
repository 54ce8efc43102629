import type Stripe from "stripe";
import type { Provider } from "../provider.ts";
import { toCents } from "./amounts.ts";
import { asking } from "./client.ts";
import { hasFailed, marks, readSession } from "./found.ts";

/** What the operator has chosen for sessions. */
export interface SessionSettings {
  readonly automaticTax: boolean;
  readonly invoices: boolean;
}

/** Sessions on Stripe's own page. */
export function createCheckout(stripe: Stripe, { automaticTax, invoices }: SessionSettings): Provider["checkout"] {
  const taxes: Stripe.Checkout.SessionCreateParams = automaticTax
    ? {
        automatic_tax: { enabled: true },
        billing_address_collection: "required",
        customer_update: { address: "auto", name: "auto" },
        tax_id_collection: { enabled: true },
      }
    : {};
  return {
    async customer(accountId, gone) {
      const instead = gone === undefined ? "" : `-${gone}`;
      const { id } = await asking(() =>
        stripe.customers.create(
          { metadata: { [marks.account]: accountId } },
          { idempotencyKey: `tollgate-customer-${accountId}${instead}` },
        ),
      );
      return id;
    },

    async open({ id, accountId, customer, amount, successUrl, cancelUrl }) {
      const metadata = { [marks.account]: accountId, [marks.order]: id };
      const session = await asking(() =>
        stripe.checkout.sessions.create(
          {
            mode: "payment",
            customer,
            client_reference_id: id,
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: "usd",
                  unit_amount: toCents(amount),
                  product_data: { name: "Prepaid credit" },
                  ...(automaticTax ? { tax_behavior: "exclusive" as const } : {}),
                },
              },
            ],
            metadata,
            payment_intent_data: { metadata },
            saved_payment_method_options: { payment_method_save: "enabled" },
            success_url: successUrl,
            cancel_url: cancelUrl,
            ...(invoices ? { invoice_creation: { enabled: true, invoice_data: { metadata } } } : {}),
            ...taxes,
          },
          { idempotencyKey: `tollgate-checkout-${id}-${customer}` },
        ),
      );
      return { session: session.id, url: session.url ?? "" };
    },

    async read(id) {
      const session = await asking(() => stripe.checkout.sessions.retrieve(id));
      const found = readSession(session);
      const { state, reference } = found;
      if (session.status !== "complete" || state !== "open" || reference === undefined) {
        return found;
      }
      // A payment that takes days, such as a bank's debit: only itself says that it has failed.
      const intent = await asking(() => stripe.paymentIntents.retrieve(reference));
      return hasFailed(intent) ? { ...found, state: "closed" } : found;
    },
  };
}
