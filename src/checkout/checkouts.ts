import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { readCollided } from "#src/storage/retry.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { demandCents } from "./cents.ts";
import type { Customers } from "./customers.ts";
import type { Dependencies } from "./dependencies.ts";
import { askFor, demandProvider } from "./faults.ts";
import { newPayment } from "./payments.ts";

/** A wish to pay. */
export interface CheckoutRequest {
  readonly accountId: string;
  /** In pico-USD. */
  readonly amount: number;
  readonly requestId: string;
  readonly returnUrl: string;
}

/** Milliseconds after which the provider is asked about a session of which it has told nothing. */
const firstAskMs = 600_000;
/** The same while somebody waits for it: events are seldom lost, and people seldom wait in vain. */
const watchedAskMs = 15_000;

/** Sessions on the provider's page. */
export class Checkouts {
  readonly #deps: Dependencies;
  readonly #customers: Customers;

  constructor(deps: Dependencies, customers: Customers) {
    this.#deps = deps;
    this.#customers = customers;
  }

  /** Opens a session; the same request again gets the same one. Throws ACCOUNT_NOT_FOUND, PAYMENT_…. */
  async open(request: CheckoutRequest): Promise<{ id: string; url: string }> {
    const provider = demandProvider(this.#deps.provider);
    const row = await this.#order(request);
    if (row.url) {
      return { id: row.id, url: row.url };
    }
    const { id, accountId, amount } = row;
    const urls = {
      successUrl: withQuery(request.returnUrl, { checkout: id }),
      cancelUrl: withQuery(request.returnUrl, { checkout: id, canceled: "1" }),
    };
    const { session, url } = await askFor(() =>
      this.#customers.ask(accountId, (customer) =>
        provider.checkout.open({ id, accountId, customer, amount, ...urls }),
      ),
    );
    await inTransaction(this.#deps.storage, (em) => em.nativeUpdate(ProviderPayment, id, { session, url }));
    return { id, url };
  }

  /** Tells somebody who waits how far it has come, and has the provider asked soon. Throws PAYMENT_NOT_FOUND. */
  async watch(id: string): Promise<ProviderPayment> {
    const found = await this.get(id);
    const askAt = new Date(this.#deps.clock.now() + watchedAskMs);
    if (found.state === "open" && found.session && found.askAt && found.askAt > askAt) {
      const later = { id, state: "open" as const, askAt: { $gt: askAt } };
      await this.#deps.storage.orm.em.fork().nativeUpdate(ProviderPayment, later, { askAt });
    }
    return found;
  }

  /** Throws PAYMENT_NOT_FOUND. */
  async get(id: string): Promise<ProviderPayment> {
    const em = this.#deps.storage.orm.em.fork();
    const found = isUuid(id) ? await em.findOne(ProviderPayment, { id, origin: "checkout" }) : null;
    if (found === null) {
      throw failure(Reason.PAYMENT_NOT_FOUND, "There is no such checkout.", { parameter: "checkout_id" });
    }
    return found;
  }

  /** The order of a request: a new one within the payment limits, or the one that it made before. */
  async #order(request: CheckoutRequest): Promise<ProviderPayment> {
    const before = await this.#before(request);
    if (before !== undefined) {
      return before;
    }
    const { accountId, amount, requestId } = request;
    const { accounts, storage, clock, random } = this.#deps;
    await accounts.topUp({ accountId, amountPicoUsd: BigInt(amount), reference: requestId, validateOnly: true });
    demandCents(amount);
    const id = random.uuid();
    const order = { id, accountId, origin: "checkout" as const, cause: requestId, amount };
    const payment = newPayment(order, clock.now(), firstAskMs);
    try {
      await inTransaction(storage, (em) => em.insert(ProviderPayment, payment));
    } catch (error) {
      return readCollided(error, () => this.#before(request));
    }
    return this.get(id);
  }

  async #before({ accountId, amount, requestId }: CheckoutRequest): Promise<ProviderPayment | undefined> {
    const em = this.#deps.storage.orm.em.fork();
    const before = await em.findOne(ProviderPayment, { accountId, origin: "checkout", cause: requestId });
    if (before !== null && before.state === "open" && before.amount !== amount) {
      throw failure(Reason.PAYMENT_REFERENCE_CONFLICT, "The request_id was already used for another amount.", {
        parameter: "request_id",
      });
    }
    return before ?? undefined;
  }
}

function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) {
    url.searchParams.set(name, value);
  }
  return url.href;
}
