import type Stripe from "stripe";
import type { Clock } from "#lib/time/clock.ts";
import type { Provider } from "../provider.ts";
import { createCharge } from "./charge.ts";
import { createCheckout, type SessionSettings } from "./checkout.ts";
import { loadStripe, type StripeAccess } from "./client.ts";
import { readStripeEvent } from "./event.ts";
import { createPortal } from "./portal.ts";
import { createRefund } from "./refund.ts";
import { isSignedByStripe } from "./signature.ts";

/** Reads Stripe's events, which needs nothing but the secret that signs them. */
export function createEventReader(secret: string, clock: Pick<Clock, "now">): Provider["readEvent"] {
  return (body, signature) => {
    const event = isSignedByStripe(body, signature, secret, clock.now()) ? parse(body) : undefined;
    return event && readStripeEvent(event);
  };
}

/** Stripe as a payment provider. `webhookSecret` undefined: no event is believed. */
export async function createStripe(
  access: StripeAccess & SessionSettings & { readonly webhookSecret: string | undefined },
  clock: Pick<Clock, "now">,
): Promise<Provider> {
  const stripe = await loadStripe(access);
  const { webhookSecret } = access;
  return {
    checkout: createCheckout(stripe, access),
    charge: createCharge(stripe),
    refund: createRefund(stripe),
    portal: createPortal(stripe),
    readEvent: webhookSecret === undefined ? () => undefined : createEventReader(webhookSecret, clock),
  };
}

/** What is signed and is no event has none of an event's fields. */
function parse(body: Buffer): Partial<Stripe.Event> {
  try {
    const event: unknown = JSON.parse(body.toString());
    return typeof event === "object" && event !== null ? event : {};
  } catch {
    return {};
  }
}
