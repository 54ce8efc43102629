import { randomBytes } from "node:crypto";
import type Stripe from "stripe";
import { missing } from "./error.ts";

// What the stand-in shows of Stripe's objects, by the types of Stripe's own library.

type Shown<Whole, Fields extends keyof Whole> = { -readonly [Field in Fields]: Whole[Field] };

export type Customer = Shown<Stripe.Customer, "id" | "object" | "created" | "metadata" | "livemode"> & {
  invoice_settings: { default_payment_method: string | null };
};
export type Card = Shown<Stripe.PaymentMethod, "id" | "object" | "type" | "created" | "livemode"> & {
  customer: string;
  card: { brand: string; last4: string };
};
type SessionFields =
  | ("id" | "object" | "created" | "livemode" | "mode" | "status" | "payment_status" | "url" | "currency" | "metadata")
  | ("amount_subtotal" | "amount_total" | "client_reference_id" | "success_url" | "cancel_url" | "expires_at");
export type Session = Shown<Stripe.Checkout.Session, SessionFields> & {
  customer: string | null;
  payment_intent: string | null;
  invoice: string | null;
};
type IntentFields =
  | ("id" | "object" | "created" | "livemode" | "amount" | "amount_received" | "currency" | "metadata" | "status")
  | "description";
export type Intent = Shown<Stripe.PaymentIntent, IntentFields> & {
  customer: string | null;
  payment_method: string | null;
  latest_charge: string | null;
  last_payment_error: { message: string; code: string } | null;
};
export type Charge = Shown<Stripe.Charge, "id" | "object" | "created" | "livemode" | "amount" | "amount_refunded"> & {
  currency: string;
  refunded: boolean;
  disputed: boolean;
  payment_intent: string;
  customer: string | null;
  metadata: Record<string, string>;
};
export type Refund = Shown<
  Stripe.Refund,
  "id" | "object" | "created" | "amount" | "currency" | "status" | "metadata" | "reason"
> & { payment_intent: string; charge: string };
export type Dispute = Shown<
  Stripe.Dispute,
  "id" | "object" | "created" | "livemode" | "amount" | "currency" | "status" | "reason" | "metadata"
> & { payment_intent: string; charge: string };
type InvoiceFields =
  | ("id" | "object" | "created" | "livemode" | "number" | "total" | "currency" | "status" | "metadata")
  | ("hosted_invoice_url" | "invoice_pdf");
export type Invoice = Shown<Stripe.Invoice, InvoiceFields> & { customer: string | null };
export type PortalSession = Shown<
  Stripe.BillingPortal.Session,
  "id" | "object" | "created" | "livemode" | "customer" | "return_url" | "url"
>;
export type Endpoint = Shown<
  Stripe.WebhookEndpoint,
  "id" | "object" | "created" | "livemode" | "url" | "status" | "metadata"
> & { enabled_events: string[]; secret: string };

/** Orders of sessions that Stripe keeps to itself. */
export interface SessionOrder {
  readonly metadata: Record<string, string>;
  readonly saves: boolean;
  readonly invoices: boolean;
}

/** All objects of an account at Stripe, in memory. */
export class State {
  readonly customers = new Map<string, Customer>();
  readonly cards = new Map<string, Card>();
  readonly sessions = new Map<string, Session>();
  readonly orders = new Map<string, SessionOrder>();
  readonly intents = new Map<string, Intent>();
  readonly charges = new Map<string, Charge>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  readonly invoices = new Map<string, Invoice>();
  readonly portals = new Map<string, PortalSession>();
  readonly endpoints = new Map<string, Endpoint>();
  /** Saved cards that their bank declines. */
  readonly declining = new Set<string>();
  /** The URL of the stand-in, for its pages. */
  url = "";

  /** What every object has. */
  head<Name extends string>(prefix: string, object: Name) {
    const id = `${prefix}_test_${randomBytes(12).toString("hex")}`;
    return { id, object, created: Math.floor(Date.now() / 1000), livemode: false };
  }
}

/** An object by its id. Throws resource_missing. */
export function find<T>(all: ReadonlyMap<string, T>, id: string | undefined): T {
  const found = all.get(id ?? "");
  if (found === undefined) {
    throw missing(id ?? "");
  }
  return found;
}

/** A list as Stripe answers it, newest first. */
export function list<T>(url: string, all: Iterable<T>, keep: (one: T) => boolean, limit = 10) {
  const found = [...all].filter(keep).reverse();
  return { object: "list", url, has_more: found.length > limit, data: found.slice(0, limit) };
}
