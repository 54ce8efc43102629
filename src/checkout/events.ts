import type { PageStart } from "#lib/rpc/pages.ts";
import { PaymentEvent, type paymentOutcomes } from "#src/storage/entities/checkout/payment-event.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Dependencies } from "./dependencies.ts";
import { textOf } from "./faults.ts";
import type { Payments } from "./payments.ts";
import type { Found, ProviderEvent } from "./provider.ts";
import type { Elsewhere } from "./returns/elsewhere.ts";

/** What became of an event. */
export interface Judged {
  readonly outcome: (typeof paymentOutcomes)[number] | "ignored";
  /** For people. */
  readonly detail: string;
  /** Whether the payment names an account. */
  readonly namesAccount: boolean;
}

/** The same before it is noted. */
interface Acted extends Omit<Judged, "namesAccount"> {
  /** What of the payment has gone back so far. Undefined: the event is not about that. */
  readonly gone?: number;
}

const isOfReturn = (type: string) => /^(charge\.refunded|refund\.|charge\.dispute\.)/.test(type);

/** Acts on the provider's events, and notes what became of each before it is acknowledged. */
export class Events {
  readonly #deps: Dependencies;
  readonly #payments: Payments;
  readonly #elsewhere: Elsewhere;

  constructor(deps: Dependencies, payments: Payments, elsewhere: Elsewhere) {
    this.#deps = deps;
    this.#payments = payments;
    this.#elsewhere = elsewhere;
  }

  /** Acts on an event whose signature fits. Throws when it could not be noted. */
  async handle(event: ProviderEvent): Promise<Judged> {
    const { about, claim, ignored } = event;
    if (about === undefined || (this.#deps.provider === undefined && claim === undefined)) {
      return { outcome: "ignored", detail: ignored || "nobody has paid", namesAccount: false };
    }
    let found = claim;
    let acted: Acted;
    try {
      found = await this.#payments.ask(event);
      acted = await this.#act(event, found);
    } catch (error) {
      this.#deps.logger.warn({ err: error, event: event.id }, "a payment has to be sent again");
      acted = { outcome: "postponed", detail: textOf(error) };
    }
    const { outcome, detail } = acted;
    if (outcome !== "ignored") {
      await this.#note(event, found, acted);
    }
    return { outcome, detail, namesAccount: found?.accountId !== undefined };
  }

  /** Newest first. An event's key is `"<milliseconds> <id>"`. */
  async list({ after, limit }: PageStart, { unmatched }: { readonly unmatched: boolean }): Promise<PaymentEvent[]> {
    const [ms, id = ""] = after?.split(" ") ?? [];
    const at = new Date(Number(ms));
    const where = {
      ...(unmatched ? { outcome: "unmatched" as const } : {}),
      ...(ms === undefined ? {} : { $or: [{ at: { $lt: at } }, { at, id: { $lt: id } }] }),
    };
    const em = this.#deps.storage.orm.em.fork();
    return em.find(PaymentEvent, where, { orderBy: { at: "desc", id: "desc" }, limit });
  }

  async #act({ type }: ProviderEvent, found: Found | undefined): Promise<Acted> {
    if (found === undefined) {
      return { outcome: "ignored", detail: "nobody has paid" };
    }
    const { outcome, detail, payment } = await this.#payments.credit(found);
    if (outcome === "unchanged") {
      return { outcome: "ignored", detail };
    }
    if (payment === undefined || !isOfReturn(type)) {
      return { outcome, detail };
    }
    const moved = await this.#elsewhere.follow(payment);
    const gone = await this.#elsewhere.gone(payment);
    return { outcome: "withdrawn", detail: moved === 0 ? "the ledger has it already" : "withdrawn", gone };
  }

  async #note(
    { id, type, about }: ProviderEvent,
    found: Found | undefined,
    { outcome, detail, gone = found?.credit }: Acted,
  ): Promise<void> {
    const named = about === undefined ? "" : "session" in about ? about.session : about.payment;
    const facts = { outcome: outcome as PaymentEvent["outcome"], detail };
    const row = {
      id,
      type,
      reference: found?.reference ?? named,
      accountId: found?.accountId ?? null,
      amount: gone === undefined ? null : BigInt(gone),
      at: new Date(this.#deps.clock.now()),
      ...facts,
    };
    await inTransaction(this.#deps.storage, (em) =>
      em.upsert(PaymentEvent, row, { onConflictFields: ["id"], onConflictExcludeFields: ["at"] }),
    );
  }
}
