import type { Bank } from "./bank.ts";
import { declined, invalid } from "./error.ts";
import type { Events } from "./events.ts";
import { below, type Params, text, texts } from "./form.ts";
import { find, list, type Session, type State } from "./state.ts";

/** All that answers need. */
export interface Host {
  readonly state: State;
  readonly events: Events;
  readonly bank: Bank;
}

/** A request for an object: the parameters, and the id in its path. */
export type Answer = (host: Host, params: Params, id: string) => object;

/** Stripe's tax of the stand-in. */
const taxPercent = 19;
const dayS = 86_400;

const readLimit = (params: Params) => Number(text(params, "limit") ?? 10);

function demandAmount(value: string | undefined, param: string): number {
  const amount = Number(value);
  if (!Number.isSafeInteger(amount) || amount < 50) {
    throw invalid("The amount must be at least 50 cents.", param);
  }
  return amount;
}

const createCustomer: Answer = ({ state }, params) => {
  const customer = {
    ...state.head("cus", "customer" as const),
    metadata: texts(params, "metadata"),
    invoice_settings: { default_payment_method: null },
  };
  state.customers.set(customer.id, customer);
  return customer;
};

const createSession: Answer = ({ state }, params) => {
  const item = below(below(params, "line_items"), "0");
  const price = below(item, "price_data");
  const subtotal = demandAmount(text(price, "unit_amount"), "line_items[0][price_data][unit_amount]");
  const customer = text(params, "customer");
  if (customer !== undefined) {
    find(state.customers, customer);
  }
  const isTaxed = text(below(params, "automatic_tax"), "enabled") === "true";
  const head = state.head("cs", "checkout.session" as const);
  const session: Session = {
    ...head,
    mode: "payment",
    status: "open",
    payment_status: "unpaid",
    url: `${state.url}/c/pay/${head.id}`,
    currency: text(price, "currency") ?? "usd",
    metadata: texts(params, "metadata"),
    amount_subtotal: subtotal,
    amount_total: subtotal + (isTaxed ? Math.round((subtotal * taxPercent) / 100) : 0),
    client_reference_id: text(params, "client_reference_id") ?? null,
    success_url: text(params, "success_url") ?? null,
    cancel_url: text(params, "cancel_url") ?? null,
    expires_at: head.created + dayS,
    customer: customer ?? null,
    payment_intent: null,
    invoice: null,
  };
  state.sessions.set(session.id, session);
  state.orders.set(session.id, {
    metadata: texts(below(params, "payment_intent_data"), "metadata"),
    saves: text(below(params, "saved_payment_method_options"), "payment_method_save") === "enabled",
    invoices: text(below(params, "invoice_creation"), "enabled") === "true",
  });
  return session;
};

const expireSession: Answer = ({ state, events }, _, id) => {
  const session = find(state.sessions, id);
  if (session.status !== "open") {
    throw invalid("Only open sessions can be expired.");
  }
  Object.assign(session, { status: "expired", url: null });
  events.emit("checkout.session.expired", session);
  return session;
};

/** Charges a card at once, as `confirm` and `off_session` ask for. */
const createIntent: Answer = ({ state, bank }, params) => {
  const customer = text(params, "customer");
  const intent = bank.intend({
    amount: demandAmount(text(params, "amount"), "amount"),
    currency: text(params, "currency") ?? "usd",
    customer: customer ?? null,
    metadata: texts(params, "metadata"),
  });
  const card = text(params, "payment_method");
  if (text(params, "confirm") !== "true" || card === undefined) {
    return intent;
  }
  intent.payment_method = find(state.cards, card).id;
  if (state.declining.has(card)) {
    bank.fail(intent);
    throw declined(intent);
  }
  bank.succeed(intent);
  return intent;
};

const createRefund: Answer = ({ bank }, params) => {
  const amount = text(params, "amount");
  const payment = text(params, "payment_intent") ?? "";
  return bank.refund(payment, amount === undefined ? undefined : Number(amount), texts(params, "metadata"));
};

const createPortal: Answer = ({ state }, params) => {
  const head = state.head("bps", "billing_portal.session" as const);
  const customer = find(state.customers, text(params, "customer")).id;
  const returnUrl = text(params, "return_url") ?? null;
  const session = { ...head, customer, return_url: returnUrl, url: `${state.url}/p/session/${head.id}` };
  state.portals.set(session.id, session);
  return session;
};

const createEndpoint: Answer = ({ state }, params) => {
  const head = state.head("we", "webhook_endpoint" as const);
  const url = text(params, "url");
  if (url === undefined || !URL.canParse(url)) {
    throw invalid("Invalid URL", "url");
  }
  const wanted = Object.values(below(params, "enabled_events")).filter((one): one is string => typeof one === "string");
  const secret = `whsec_${head.id.slice(-24)}`;
  const endpoint = { ...head, url, status: "enabled", metadata: {}, enabled_events: wanted, secret };
  state.endpoints.set(head.id, endpoint);
  return endpoint;
};

const listInvoices: Answer = ({ state }, params) => {
  const named = text(params, "customer");
  const id = named === undefined ? undefined : find(state.customers, named).id;
  const isTheirs = ({ customer }: { readonly customer: unknown }) => id === undefined || customer === id;
  return list("/v1/invoices", state.invoices.values(), isTheirs, readLimit(params));
};

/** Stripe's methods that the stand-in has, by method and path. */
export const routes: Readonly<Record<string, Answer>> = {
  "POST /v1/customers": createCustomer,
  "GET /v1/customers/:id": ({ state }, _, id) => find(state.customers, id),
  "GET /v1/customers/:id/payment_methods": ({ state }, params, id) =>
    list("/v1/payment_methods", state.cards.values(), ({ customer }) => customer === id, readLimit(params)),
  "POST /v1/checkout/sessions": createSession,
  "GET /v1/checkout/sessions": ({ state }, params) =>
    list("/v1/checkout/sessions", state.sessions.values(), () => true, readLimit(params)),
  "GET /v1/checkout/sessions/:id": ({ state }, _, id) => find(state.sessions, id),
  "POST /v1/checkout/sessions/:id/expire": expireSession,
  "POST /v1/payment_intents": createIntent,
  "GET /v1/payment_intents": ({ state }, params) =>
    list(
      "/v1/payment_intents",
      state.intents.values(),
      ({ customer }) => text(params, "customer") === undefined || customer === text(params, "customer"),
      readLimit(params),
    ),
  "GET /v1/payment_intents/:id": ({ state }, _, id) => find(state.intents, id),
  "POST /v1/refunds": createRefund,
  "GET /v1/refunds": ({ state }, params) =>
    list("/v1/refunds", state.refunds.values(), isOf(params), readLimit(params)),
  "GET /v1/refunds/:id": ({ state }, _, id) => find(state.refunds, id),
  "GET /v1/disputes": ({ state }, params) =>
    list("/v1/disputes", state.disputes.values(), isOf(params), readLimit(params)),
  "GET /v1/disputes/:id": ({ state }, _, id) => find(state.disputes, id),
  "GET /v1/invoices": listInvoices,
  "POST /v1/billing_portal/sessions": createPortal,
  "POST /v1/webhook_endpoints": createEndpoint,
  "GET /v1/webhook_endpoints": ({ state }, params) =>
    list("/v1/webhook_endpoints", [...state.endpoints.values()].map(withoutSecret), () => true, readLimit(params)),
  "DELETE /v1/webhook_endpoints/:id": ({ state }, _, id) => {
    const { id: gone } = find(state.endpoints, id);
    state.endpoints.delete(gone);
    return { id: gone, object: "webhook_endpoint", deleted: true };
  },
};

function isOf(params: Params) {
  const payment = text(params, "payment_intent");
  return (one: { readonly payment_intent: string }) => payment === undefined || one.payment_intent === payment;
}

function withoutSecret({ secret: _, ...endpoint }: { readonly secret: string }) {
  return endpoint;
}
