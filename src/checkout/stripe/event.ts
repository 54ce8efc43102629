import type Stripe from "stripe";
import { type Found, type ProviderEvent, unknownShape } from "../provider.ts";
import { readIntent, readSession, toId } from "./found.ts";

type About = Pick<ProviderEvent, "about" | "claim" | "ignored">;

const unknown: About = { about: undefined, claim: undefined, ignored: unknownShape };

const ofPayment = (payment: unknown): About => {
  const id = toId(payment);
  return { about: id === undefined ? undefined : { payment: id }, claim: undefined, ignored: "it names no payment" };
};

/** What a signed event of Stripe's is about. */
export function readStripeEvent(event: Partial<Stripe.Event>): ProviderEvent {
  const { id, type, data } = event;
  const object: unknown = data?.object;
  const isNamed = id === undefined || typeof id === "string";
  const isKnown = isNamed && typeof type === "string" && typeof object === "object" && object !== null;
  return {
    id: typeof id === "string" ? id : (toId(object) ?? ""), // Stripe's have one; what stands in is signed, too
    type: typeof type === "string" ? type : "",
    ...(isKnown ? readObject(event as Stripe.Event) : unknown),
  };
}

function readObject(event: Stripe.Event): About {
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
    case "checkout.session.async_payment_failed":
    case "checkout.session.expired": {
      const session = event.data.object;
      const id = toId(session);
      return id === undefined
        ? unknown
        : { about: { session: id }, claim: unlessOpen(readSession(session)), ignored: "" };
    }
    case "payment_intent.succeeded": {
      const intent = event.data.object;
      const id = toId(intent);
      // An intent of an event that succeeded has, whatever else it says.
      const claim: Found = { ...readIntent(intent), state: "paid" };
      return id === undefined ? unknown : { about: { payment: id }, claim, ignored: "" };
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
