import { cent } from "#lib/money/cents.ts";
import {
  type ChargeOrder,
  type Found,
  type Provider,
  type ProviderEvent,
  RefusedByProvider,
  type Returned,
} from "#src/checkout/provider.ts";
import type { Wire } from "../database/wire.ts";
import type { Dice } from "../world/dice.ts";

/** A payment as the provider has it. */
interface Paid {
  readonly reference: string;
  readonly accountId: string;
  readonly order: string;
  readonly currency: string;
  readonly amount: number;
  readonly isAuto: boolean;
  readonly returned: (Omit<Returned, "state"> & { state: Returned["state"] })[];
}

interface Session {
  readonly id: string;
  readonly order: string;
  readonly accountId: string;
  /** What is asked for: somebody may change it until it is paid. */
  amount: number;
  currency: string;
  state: "open" | "closed";
  /** Whether somebody was given its page: nobody finds it otherwise. */
  isShown: boolean;
  reference: string | undefined;
}

/** What the provider has, whatever becomes of the cores. Each order is carried out once. */
export class Bank {
  readonly sessions = new Map<string, Session>();
  readonly payments = new Map<string, Paid>();
  /** Accounts whose saved card is declined. */
  readonly declining = new Set<string>();
  readonly #done = new Map<string, () => unknown>();
  readonly #dice: Dice;
  /** Tells of what happened, as events. */
  tell: (type: string, about: NonNullable<ProviderEvent["about"]>) => void = () => {};
  /** Called before a saved card is charged. */
  onCharge: (order: ChargeOrder) => void = () => {};

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** Somebody is given the page of an order's session. */
  show(order: string): void {
    const session = this.sessions.get(`cs_${order}`);
    if (session !== undefined) {
      session.isShown = true;
    }
  }

  /** Somebody pays a session, which may have been changed since it was opened. */
  pay(session: Session): void {
    if (session.state === "open") {
      session.state = "closed";
      const { order, accountId, amount, currency } = session;
      session.reference = this.#take({ order, accountId, amount, currency, isAuto: false });
      this.tell("checkout.session.completed", { session: session.id });
      this.tell("payment_intent.succeeded", { payment: session.reference });
    }
  }

  expire(session: Session): void {
    if (session.state === "open") {
      session.state = "closed";
      this.tell("checkout.session.expired", { session: session.id });
    }
  }

  /** What is left of a payment that nobody has paid back. */
  left({ amount, returned }: Paid): number {
    return amount - returned.reduce((sum, one) => sum + (one.state === "gone" ? one.amount : 0), 0);
  }

  /** The dashboard pays back, or a bank takes back: a dispute is about all of it, paid back or not. */
  giveBack(payment: Paid, kind: Returned["kind"], amount: number): void {
    if (amount > 0) {
      payment.returned.push({ id: this.#dice.uuid(), kind, order: undefined, amount, state: "gone" });
      this.tell(kind === "refund" ? "charge.refunded" : "charge.dispute.created", { payment: payment.reference });
    }
  }

  /** Money that was on its way back does not arrive, or a dispute is won. */
  comeBack(payment: Paid): void {
    const one = payment.returned.find(({ state }) => state === "gone");
    if (one !== undefined) {
      one.state = "back";
      this.tell(one.kind === "refund" ? "refund.failed" : "charge.dispute.closed", { payment: payment.reference });
    }
  }

  #take(of: Omit<Paid, "reference" | "returned">): string {
    const reference = `pi_${this.#dice.uuid()}`;
    this.payments.set(reference, { ...of, reference, returned: [] });
    return reference;
  }

  /** The provider as a core sees it, over its wire. */
  serve(wire: Pick<Wire, "call">): Provider {
    /** The same order again has the same result, a refusal too. */
    const once = <T>(name: string, id: string, make: () => T): Promise<T> =>
      wire.call(name, () => {
        const done = this.#done.get(id) ?? settle(make);
        this.#done.set(id, done);
        return done() as T;
      });
    return {
      checkout: {
        customer: (accountId) => wire.call("customer", () => `cus_${accountId}`),
        open: ({ id: order, accountId, amount }) =>
          once("open", order, () => {
            const id = `cs_${order}`;
            const opened = {
              id,
              order,
              accountId,
              amount,
              currency: "usd",
              state: "open",
              isShown: false,
              reference: undefined,
            } as const;
            this.sessions.set(id, { ...opened });
            return { session: id, url: `https://pay.example/${id}` };
          }),
        read: (id) => wire.call("read session", () => this.#read(this.sessions.get(id))),
      },
      charge: {
        make: async (order, mayCharge) => {
          if (!this.#done.has(order.id) && !(await mayCharge())) {
            return undefined;
          }
          return once("charge", order.id, () => {
            const { id, accountId, amount } = order;
            if (this.declining.has(accountId)) {
              return { declined: "the card was declined" };
            }
            this.onCharge(order);
            return { reference: this.#take({ order: id, accountId, amount, currency: "usd", isAuto: true }) };
          });
        },
        read: (reference) => wire.call("read payment", () => show(this.payments.get(reference) as Paid)),
      },
      refund: {
        make: ({ id, reference, amount }) =>
          once("pay back", id, () => {
            const payment = this.payments.get(reference) as Paid;
            if (this.left(payment) < amount || this.#dice.chance(0.1)) {
              throw new RefusedByProvider("it cannot be paid back");
            }
            const made = { id: this.#dice.uuid(), kind: "refund", order: id, amount, state: "gone" } as const;
            payment.returned.push({ ...made });
            this.tell("charge.refunded", { payment: reference });
            return made;
          }),
        list: (reference) => wire.call("list", () => structuredClone(this.payments.get(reference)?.returned ?? [])),
      },
      portal: { open: async () => "", invoices: async () => [] },
      readEvent: () => undefined,
    };
  }

  #read(session: Session | undefined): Found {
    if (session?.reference !== undefined) {
      return show(this.payments.get(session.reference) as Paid);
    }
    const { accountId, order } = session as Session;
    const open = { accountId, order, currency: "usd", reference: undefined, credit: undefined, charged: undefined };
    return { ...open, state: (session as Session).state };
  }
}

function show({ reference, accountId, order, currency, amount }: Paid): Found {
  return { state: "paid", reference, accountId, order, currency, credit: amount, charged: amount };
}

/** An event that claims a hundred times what is paid, and has a signature that fits. */
export function lie(id: string, about: NonNullable<ProviderEvent["about"]>, accountId: string): ProviderEvent {
  const claim = { accountId, order: undefined, currency: "usd", credit: 90_000 * cent, charged: 90_000 * cent };
  const type = "checkout.session.completed";
  return { id, type, about, ignored: "", claim: { ...claim, state: "paid", reference: `pi_lie_${id}` } };
}

/** Does something now, and returns what tells its result. */
function settle<T>(make: () => T): () => T {
  try {
    const made = make();
    return () => made;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
