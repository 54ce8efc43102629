import { invalid } from "./error.ts";
import type { Events } from "./events.ts";
import { type Dispute, find, type Intent, type Refund, type Session, type State } from "./state.ts";

/** What people and their banks do: pays, saves cards, pays back, disputes. No money moves. */
export class Bank {
  /** Whether the seller has no money at Stripe to pay back with. */
  isEmpty = false;
  readonly #state: State;
  readonly #events: Events;

  constructor(state: State, events: Events) {
    this.#state = state;
    this.#events = events;
  }

  /** Pays a session. Paying it again pays nothing. */
  pay(session: Session, saves: boolean): void {
    const order = this.#state.orders.get(session.id);
    if (session.status !== "open") {
      return;
    }
    const card = saves && order?.saves && session.customer !== null ? this.saveCard(session.customer) : undefined;
    const { customer, amount_total: amount, currency } = session;
    const intent = this.intend({
      amount: amount ?? 0,
      currency: currency ?? "usd",
      customer,
      metadata: order?.metadata ?? {},
    });
    intent.payment_method = card ?? null;
    this.succeed(intent);
    Object.assign(session, { status: "complete", payment_status: "paid", payment_intent: intent.id, url: null });
    if (order?.invoices) {
      session.invoice = this.#invoice(session, order.metadata);
    }
    this.#events.emit("checkout.session.completed", session);
  }

  /** Pays a session by a bank's debit: it is complete, and its money comes days later, if it comes. */
  debit(session: Session): Intent {
    const { customer, amount_total: amount, currency, id } = session;
    const metadata = this.#state.orders.get(id)?.metadata ?? {};
    const intent = this.intend({ amount: amount ?? 0, currency: currency ?? "usd", customer, metadata });
    intent.status = "processing";
    Object.assign(session, { status: "complete", payment_intent: intent.id, url: null });
    this.#events.emit("checkout.session.completed", session);
    return intent;
  }

  /** The bank has paid a debit, or has not. */
  settle(session: Session, isPaid: boolean): void {
    const intent = find(this.#state.intents, session.payment_intent ?? undefined);
    if (isPaid) {
      this.succeed(intent);
      session.payment_status = "paid";
    } else {
      intent.status = "requires_payment_method";
      this.fail(intent);
    }
    this.#events.emit(`checkout.session.async_payment_${isPaid ? "succeeded" : "failed"}`, session);
  }

  saveCard(customer: string): string {
    const card = { ...this.#state.head("pm", "payment_method" as const), type: "card" as const };
    this.#state.cards.set(card.id, { ...card, customer, card: { brand: "visa", last4: "4242" } });
    return card.id;
  }

  intend(facts: Pick<Intent, "amount" | "currency" | "customer" | "metadata">): Intent {
    const intent: Intent = {
      ...this.#state.head("pi", "payment_intent" as const),
      ...facts,
      amount_received: 0,
      description: null,
      status: "requires_payment_method",
      payment_method: null,
      latest_charge: null,
      last_payment_error: null,
    };
    this.#state.intents.set(intent.id, intent);
    return intent;
  }

  succeed(intent: Intent): void {
    const { id, amount, currency, customer, metadata } = intent;
    const charge = {
      ...this.#state.head("ch", "charge" as const),
      ...{ amount, currency, customer, metadata, payment_intent: id },
      ...{ amount_refunded: 0, refunded: false, disputed: false },
    };
    this.#state.charges.set(charge.id, charge);
    Object.assign(intent, { status: "succeeded", amount_received: amount, latest_charge: charge.id });
    this.#events.emit("payment_intent.succeeded", intent);
  }

  fail(intent: Intent): void {
    intent.last_payment_error = { message: "Your card was declined.", code: "card_declined" };
    this.#events.emit("payment_intent.payment_failed", intent);
  }

  /** Pays back. Without an amount: all that is left. */
  refund(paymentIntent: string, amount: number | undefined, metadata: Record<string, string> = {}): Refund {
    const charge = find(this.#state.charges, find(this.#state.intents, paymentIntent).latest_charge ?? undefined);
    const left = charge.amount - charge.amount_refunded;
    const back = amount ?? left;
    if (charge.disputed) {
      throw invalid("This charge has been charged back.");
    }
    if (this.isEmpty) {
      throw invalid("Insufficient funds in your Stripe balance to refund this amount.");
    }
    if (!(back > 0 && back <= left)) {
      throw invalid(`Refund amount (${back}) is greater than unrefunded amount on charge (${left})`, "amount");
    }
    const refund: Refund = {
      ...this.#state.head("re", "refund" as const),
      ...{ amount: back, currency: charge.currency, status: "succeeded", metadata, reason: null },
      ...{ payment_intent: paymentIntent, charge: charge.id },
    };
    charge.amount_refunded += back;
    charge.refunded = charge.amount_refunded === charge.amount;
    this.#state.refunds.set(refund.id, refund);
    this.#events.emit("refund.created", refund);
    this.#events.emit("charge.refunded", charge);
    return refund;
  }

  /** The bank could not pay a refund out after all. */
  failRefund(id: string): void {
    const refund = find(this.#state.refunds, id);
    const charge = find(this.#state.charges, refund.charge);
    refund.status = "failed";
    charge.amount_refunded -= refund.amount;
    charge.refunded = false;
    this.#events.emit("refund.failed", refund);
  }

  dispute(paymentIntent: string): Dispute {
    const charge = find(this.#state.charges, find(this.#state.intents, paymentIntent).latest_charge ?? undefined);
    if (charge.disputed) {
      throw invalid("This charge is disputed already.");
    }
    const { amount, amount_refunded: refunded, currency } = charge;
    const dispute: Dispute = {
      ...this.#state.head("dp", "dispute" as const),
      ...{ amount: amount - refunded, currency, status: "needs_response", reason: "fraudulent", metadata: {} },
      ...{ payment_intent: paymentIntent, charge: charge.id },
    };
    charge.disputed = true;
    this.#state.disputes.set(dispute.id, dispute);
    this.#events.emit("charge.dispute.created", dispute);
    return dispute;
  }

  /** The bank decides a dispute. */
  decide(id: string, status: "won" | "lost"): void {
    const dispute = find(this.#state.disputes, id);
    dispute.status = status;
    find(this.#state.charges, dispute.charge).disputed = status === "lost";
    this.#events.emit("charge.dispute.closed", dispute);
  }

  #invoice({ amount_total: total, currency, customer }: Session, metadata: Record<string, string>): string {
    const head = this.#state.head("in", "invoice" as const);
    const number = `SIM-${String(this.#state.invoices.size + 1).padStart(4, "0")}`;
    const page = `${this.#state.url}/invoices/${head.id}`;
    this.#state.invoices.set(head.id, {
      ...head,
      ...{ number, total: total ?? 0, currency: currency ?? "usd", customer, metadata, status: "paid" },
      ...{ hosted_invoice_url: page, invoice_pdf: page },
    });
    return head.id;
  }
}
