import type Stripe from "stripe";
import type { Found, ProviderEvent } from "../provider.ts";
import { readIntent, readSession } from "./found.ts";

type About = Pick<ProviderEvent, "about" | "claim" | "ignored">;

const ofPayment = (payment: string | { readonly id: string } | null | undefined): About => {
  const id = typeof payment === "string" ? payment : payment?.id;
  return { about: id === undefined ? undefined : { payment: id }, claim: undefined, ignored: "it names no payment" };
};

/** What a signed event of Stripe's is about. */
export function readStripeEvent(event: Stripe.Event): ProviderEvent {
  const { id, type } = event;
  const head = { id: String(id), type: String(type) };
  if (typeof event.data?.object !== "object" || event.data.object === null) {
    return { ...head, about: undefined, claim: undefined, ignored: "its shape is not known here" };
  }
  return { ...head, ...readObject(event) };
}

function readObject(event: Stripe.Event): About {
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
    case "checkout.session.async_payment_failed":
    case "checkout.session.expired": {
      const session = event.data.object;
      return { about: { session: session.id }, claim: unlessOpen(readSession(session)), ignored: "" };
    }
    case "payment_intent.succeeded": {
      const intent = event.data.object;
      // An intent of an event that succeeded has, whatever else it says.
      const claim: Found = { ...readIntent(intent), state: "paid" };
      return { about: { payment: intent.id }, claim, ignored: "" };
    }
    case "charge.refunded":
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
    case "charge.dispute.funds_reinstated":
    case "charge.dispute.funds_withdrawn":
      return ofPayment(event.data.object.payment_intent);
    default:
      return { about: undefined, claim: undefined, ignored: `events of type ${event.type} move no money here` };
  }
}

/** A claim of money. Undefined: nobody has paid. */
function unlessOpen(found: Found): Found | undefined {
  return found.state === "paid" ? found : undefined;
}
