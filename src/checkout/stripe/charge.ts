import type Stripe from "stripe";
import { type Charged, type ChargeOrder, type Provider, RefusedByProvider, UnknownCustomer } from "../provider.ts";
import { toCents } from "./amounts.ts";
import { asking } from "./client.ts";
import { marks, readIntent } from "./found.ts";

/** Payments among which an earlier try of a charge is looked for. */
const recent = 100;
const noCard = "No card is saved.";

/** Charges of saved cards. */
export function createCharge(stripe: Stripe): Provider["charge"] {
  /** The payment of an earlier try: Stripe forgets idempotency keys after a day. */
  async function findEarlier(customer: string, order: string): Promise<Stripe.PaymentIntent | undefined> {
    const { data } = await stripe.paymentIntents.list({ customer, limit: recent });
    return data.find(({ metadata }) => metadata[marks.order] === order);
  }

  /** The card that the customer chose, or else the one that was saved last. Undefined: none is saved. */
  async function findCard(customer: string): Promise<string | undefined> {
    const found = await stripe.customers.retrieve(customer);
    const chosen = found.deleted ? undefined : found.invoice_settings.default_payment_method;
    if (chosen) {
      return typeof chosen === "string" ? chosen : chosen.id;
    }
    const { data } = await stripe.customers.listPaymentMethods(customer, { type: "card", limit: 1 });
    return data[0]?.id;
  }

  async function charge(order: ChargeOrder, mayCharge: () => Promise<boolean>): Promise<Charged | undefined> {
    const { id, accountId, customer, amount } = order;
    const earlier = await findEarlier(customer, id);
    if (earlier !== undefined) {
      return toResult(earlier);
    }
    const card = await findCard(customer);
    if (card === undefined) {
      return { declined: noCard };
    }
    if (!(await mayCharge())) {
      return undefined;
    }
    const intent = await stripe.paymentIntents.create(
      {
        amount: toCents(amount),
        currency: "usd",
        customer,
        payment_method: card,
        off_session: true,
        confirm: true,
        error_on_requires_action: true,
        description: "Prepaid credit",
        metadata: { [marks.account]: accountId, [marks.order]: id },
      },
      { idempotencyKey: `tollgate-charge-${id}` },
    );
    return toResult(intent);
  }

  return {
    async make(order, mayCharge) {
      try {
        return await asking(() => charge(order, mayCharge));
      } catch (error) {
        if (error instanceof RefusedByProvider) {
          return { declined: error instanceof UnknownCustomer ? noCard : error.message };
        }
        throw error;
      }
    },
    read: async (reference) => readIntent(await asking(() => stripe.paymentIntents.retrieve(reference))),
  };
}

function toResult({ id, status, last_payment_error: fault }: Stripe.PaymentIntent): Charged {
  return status === "succeeded" || status === "processing"
    ? { reference: id }
    : { declined: fault?.message ?? `The payment is ${status}.` };
}
