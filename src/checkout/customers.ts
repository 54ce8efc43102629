import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { ProviderCustomer } from "#src/storage/entities/checkout/customer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Dependencies } from "./dependencies.ts";
import { askFor, demandProvider } from "./faults.ts";
import { type Invoice, UnknownCustomer } from "./provider.ts";

function noneOfUnknown(error: unknown): readonly Invoice[] {
  if (error instanceof UnknownCustomer) {
    return [];
  }
  throw error;
}

/** Accounts as the provider's customers. */
export class Customers {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Makes or finds an account's customer. */
  async of(accountId: string): Promise<string> {
    return (await this.find(accountId)) ?? (await this.#make(accountId));
  }

  /** Asks the provider about an account's customer; about a new one where it does not know the other any more. */
  async ask<T>(accountId: string, ask: (customer: string) => Promise<T>): Promise<T> {
    const customer = await this.of(accountId);
    try {
      return await ask(customer);
    } catch (error) {
      if (!(error instanceof UnknownCustomer)) {
        throw error;
      }
      await inTransaction(this.#deps.storage, (em) => em.nativeDelete(ProviderCustomer, { accountId, customer }));
      return ask(await this.#make(accountId, customer));
    }
  }

  async #make(accountId: string, gone?: string): Promise<string> {
    const provider = demandProvider(this.#deps.provider);
    const customer = await askFor(() => provider.checkout.customer(accountId, gone));
    const row = { accountId, customer };
    await inTransaction(this.#deps.storage, (em) => em.upsert(ProviderCustomer, row, { onConflictAction: "ignore" }));
    return (await this.find(accountId)) ?? customer;
  }

  /** Undefined: the account has never been at the provider. */
  async find(accountId: string): Promise<string | undefined> {
    return (await this.#deps.storage.orm.em.fork().findOne(ProviderCustomer, { accountId }))?.customer;
  }

  /** Opens the page on which card, address and tax id are changed. Throws ACCOUNT_NOT_FOUND. */
  async openPortal(accountId: string, returnUrl: string): Promise<string> {
    const provider = demandProvider(this.#deps.provider);
    await this.#demand(accountId);
    return askFor(() => this.ask(accountId, (customer) => provider.portal.open(customer, returnUrl)));
  }

  /** Newest first. Throws ACCOUNT_NOT_FOUND. */
  async invoices(accountId: string): Promise<readonly Invoice[]> {
    const provider = demandProvider(this.#deps.provider);
    await this.#demand(accountId);
    const customer = await this.find(accountId);
    return customer === undefined ? [] : askFor(() => provider.portal.invoices(customer).catch(noneOfUnknown));
  }

  async #demand(accountId: string): Promise<void> {
    const { account } = await this.#deps.accounts.getAccount({ accountId });
    if (account === undefined) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.");
    }
  }
}
