import { formatUsd } from "#lib/money/money.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Dependencies } from "../dependencies.ts";
import { demandBooked, demandProvider, finalReason, textOf } from "../faults.ts";
import { RefusedByProvider } from "../provider.ts";

/** Milliseconds until a withdrawal that was broken off is carried on. */
export const carryOnMs = 60_000;

/**
 * Carries a refund from the ledger to the provider, each step once, whatever happens between two of them:
 *
 * asked → withdrawn (the ledger has given the money away) → done (the provider pays it back); asked → refused (the ledger
 * does not give it); withdrawn or done → returned (the provider refused, or got it back, and the ledger has it again).
 */
export class Withdrawals {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Carries a refund on from where it stands. Throws what a retry may change; it stays as it is then. */
  async carryOn(id: string): Promise<Withdrawal> {
    const row = await this.get(id);
    if (row.state === "asked") {
      await this.#withdraw(row);
      return this.carryOn(id);
    }
    if (row.state === "withdrawn") {
      await this.#payBack(row);
      return this.get(id);
    }
    return row;
  }

  /** Takes the money of a withdrawal out of the ledger. */
  async #withdraw(row: Withdrawal): Promise<void> {
    const { id, accountId, amount } = row;
    const movement = { accountId, amountPicoUsd: BigInt(amount), reference: ledgerReference(row) };
    try {
      await this.#deps.accounts.refund(movement);
    } catch (error) {
      if (finalReason(error) === undefined) {
        throw error;
      }
      if (!(await this.#isPaidBack(row))) {
        await this.move(id, "asked", { state: "refused", problem: textOf(error), askAt: null });
        return;
      }
      // A failover into the past has lost that the ledger gave it away: what is spent of it since then is owed.
      await this.#deps.accounts.refund({ ...movement, intoDebt: true });
    }
    await this.move(id, "asked", { state: "withdrawn" }, ledgerReference(row));
  }

  /** Whether the provider has paid a withdrawal back before. */
  async #isPaidBack({ id, paymentId }: Withdrawal): Promise<boolean> {
    const { reference } = await this.#deps.storage.orm.em.fork().findOneOrFail(ProviderPayment, paymentId);
    const returned = await demandProvider(this.#deps.provider).refund.list(reference ?? "");
    return returned.some(({ order, state }) => order === id && state === "gone");
  }

  /** Pays a withdrawal back at the provider. */
  async #payBack(row: Withdrawal): Promise<void> {
    const provider = demandProvider(this.#deps.provider);
    const { id, accountId, paidBack: amount } = row;
    const em = this.#deps.storage.orm.em.fork();
    const reference = (await em.findOneOrFail(ProviderPayment, row.paymentId)).reference ?? "";
    try {
      const made = await provider.refund.make({ id, accountId, reference, amount });
      if (made.state === "gone") {
        await this.move(id, "withdrawn", { state: "done", providerId: made.id, askAt: null });
        return;
      }
      await this.putBack(row, "the payment provider could not pay it back");
    } catch (error) {
      if (!(error instanceof RefusedByProvider)) {
        throw error;
      }
      await this.putBack(row, error.message);
    }
  }

  /** Brings withdrawn money into the ledger again, at the prices that it had. A refund that failed is announced. */
  async putBack(row: Withdrawal, problem: string): Promise<void> {
    const { storage, announce } = this.#deps;
    const { id, accountId, paymentId, amount, state, kind } = row;
    const undoes = ledgerReference(row);
    const reference = `undo:${undoes}`;
    if (amount > 0) {
      await this.#deps.accounts.topUp({ accountId, amountPicoUsd: BigInt(amount), reference, undoes });
    }
    await inTransaction(storage, async (em) => {
      await (amount > 0 && demandBooked(this.#deps, em, reference));
      const facts = { state: "returned", problem, askAt: null } as const;
      const moved = await em.nativeUpdate(Withdrawal, { id, state }, facts);
      if (moved > 0 && kind !== "dispute") {
        const payment = await em.findOneOrFail(ProviderPayment, paymentId);
        const data = { amount_usd: formatUsd(BigInt(amount)), reference: payment.reference ?? "", problem };
        await announce(em, { type: "refund.failed", accountId, data });
      }
    });
  }

  async get(id: string): Promise<Withdrawal> {
    return this.#deps.storage.orm.em.fork().findOneOrFail(Withdrawal, id);
  }

  /** Changes a withdrawal unless it has left a state meanwhile. `booked`: the movement that the ledger has by then. */
  async move(id: string, from: Withdrawal["state"], facts: Partial<Withdrawal>, booked?: string): Promise<void> {
    await inTransaction(this.#deps.storage, async (em) => {
      await (booked && demandBooked(this.#deps, em, booked));
      await em.nativeUpdate(Withdrawal, { id, state: from }, facts);
    });
  }
}

/** The name of a withdrawal in the ledger. */
export function ledgerReference({ id, kind, providerId }: Withdrawal): string {
  return kind === "refund" ? `refund:${id}` : (providerId ?? id);
}

/** What of a payment's credit has gone back, or is about to. */
export function takenOf(rows: readonly Withdrawal[]): { readonly amount: number; readonly paidBack: number } {
  const taken = rows.filter(({ state }) => state !== "refused" && state !== "returned");
  return {
    amount: taken.reduce((sum, { amount }) => sum + amount, 0),
    paidBack: taken.reduce((sum, { paidBack }) => sum + paidBack, 0),
  };
}
