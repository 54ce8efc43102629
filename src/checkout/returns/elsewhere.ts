import { LockMode } from "@mikro-orm/sql";
import { validate as isUuid } from "uuid";
import { formatUsd } from "#lib/money/money.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import { readCollided } from "#src/storage/retry.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { scaleUp } from "../cents.ts";
import type { Dependencies } from "../dependencies.ts";
import { demandBooked, demandProvider, finalReason, textOf } from "../faults.ts";
import type { Returned } from "../provider.ts";
import { carryOnMs, ledgerReference, takenOf, type Withdrawals } from "./withdrawals.ts";

/**
 * Follows what happens to a payment at the provider: refunds in its dashboard, refunds that failed after all, disputes.
 * The money has moved already, so what is spent of it becomes debt.
 */
export class Elsewhere {
  readonly #deps: Dependencies;
  readonly #withdrawals: Withdrawals;

  constructor(deps: Dependencies, withdrawals: Withdrawals) {
    this.#deps = deps;
    this.#withdrawals = withdrawals;
  }

  /** Asks what has gone back of a payment, and does the same in the ledger. Returns how much that was. */
  async follow(payment: ProviderPayment): Promise<number> {
    const returned = await demandProvider(this.#deps.provider).refund.list(payment.reference ?? "");
    let moved = 0;
    for (const one of returned) {
      moved += await this.#followOne(payment, one);
    }
    return moved;
  }

  /** What of a payment's credit has gone back so far, in pico-USD. */
  async gone({ id: paymentId }: ProviderPayment): Promise<number> {
    return takenOf(await this.#deps.storage.orm.em.fork().find(Withdrawal, { paymentId })).amount;
  }

  async #followOne(payment: ProviderPayment, returned: Returned): Promise<number> {
    const row = (await this.#find(returned)) ?? (await this.#noteAfterRefunds(payment, returned));
    if (returned.state === "back") {
      if (row.state === "done" || row.state === "withdrawn") {
        await this.#withdrawals.putBack(row, "it came back from the payment provider");
        return row.amount;
      }
      await this.#withdrawals.move(row.id, "asked", { state: "returned", askAt: null });
      return 0;
    }
    if (row.state === "withdrawn") {
      await this.#withdrawals.move(row.id, "withdrawn", { state: "done", providerId: returned.id, askAt: null });
      return 0;
    }
    if (row.state === "refused" && row.kind === "refund") {
      return this.#takeAnew(row);
    }
    return row.state === "asked" && row.kind !== "refund" ? this.#take(row, payment) : 0;
  }

  /** Takes out a refund that the ledger refused once a failover had lost that it gave it away, and that is paid back. */
  async #takeAnew({ id, amount }: Withdrawal): Promise<number> {
    const askAt = new Date(this.#deps.clock.now() + carryOnMs);
    await this.#withdrawals.move(id, "refused", { state: "asked", problem: null, askAt });
    const { state } = await this.#withdrawals.carryOn(id);
    return state === "done" ? amount : 0;
  }

  /** The withdrawal of something that went back: asked for here, or noted before. */
  async #find({ id, order }: Returned): Promise<Withdrawal | undefined> {
    const em = this.#deps.storage.orm.em.fork();
    const asked = order !== undefined && isUuid(order) ? await em.findOne(Withdrawal, order) : null;
    return asked ?? (await em.findOne(Withdrawal, { providerId: id })) ?? undefined;
  }

  /** Notes it once the provider has decided on every refund of the payment: what is left to take depends on them. */
  async #noteAfterRefunds(payment: ProviderPayment, returned: Returned): Promise<Withdrawal> {
    const em = this.#deps.storage.orm.em.fork();
    for (const row of await em.find(Withdrawal, { paymentId: payment.id })) {
      await (isUnderWay(row) && this.#withdrawals.carryOn(row.id));
    }
    return this.#note(payment, returned);
  }

  /**
   * One that has an order was asked for here, and a failover into the past has lost it: it keeps its id. Throws while a refund of
   * the payment is under way.
   */
  async #note(payment: ProviderPayment, returned: Returned): Promise<Withdrawal> {
    const { storage, clock, random } = this.#deps;
    const { id: providerId, kind, amount: paidBack, order } = returned;
    const now = clock.now();
    const note = () =>
      inTransaction(storage, async (em) => {
        await em.findOne(ProviderPayment, payment.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
        const rows = await em.find(Withdrawal, { paymentId: payment.id });
        if (rows.some(isUnderWay)) {
          throw new Error("a refund of the payment is under way");
        }
        const taken = takenOf(rows);
        const credit = scaleUp(paidBack, payment.amount, payment.charged ?? payment.amount);
        await em.insert(Withdrawal, {
          id: order !== undefined && isUuid(order) ? order : random.uuid(),
          accountId: payment.accountId,
          paymentId: payment.id,
          kind: kind === "dispute" ? "dispute" : "elsewhere",
          cause: null,
          amount: Math.max(0, Math.min(credit, payment.amount - taken.amount)),
          paidBack,
          state: "asked",
          providerId,
          problem: null,
          createdAt: new Date(now),
          askAt: new Date(now + carryOnMs),
        });
      });
    // Another core may have noted it meanwhile.
    return note().then(
      () => storage.orm.em.fork().findOneOrFail(Withdrawal, { providerId }),
      (error: unknown) => readCollided(error, () => this.#find(returned)),
    );
  }

  /** Takes money that has left out of the ledger. A dispute freezes the account and tells the operator. */
  async #take(row: Withdrawal, { reference }: ProviderPayment): Promise<number> {
    const { accounts, announce, storage, logger } = this.#deps;
    const { id, accountId, amount, kind, providerId } = row;
    if (kind === "dispute") {
      await accounts.freezeAccount({ accountId, reason: "A payment of this account is disputed." });
    }
    if (amount > 0) {
      const movement = { accountId, amountPicoUsd: BigInt(amount), reference: ledgerReference(row) };
      const problem = await accounts.refund({ ...movement, intoDebt: true }).then(() => undefined, refusalOf);
      if (problem !== undefined) {
        // An operator has paid it back by hand before: a person has to look.
        await this.#withdrawals.move(id, "asked", { state: "refused", problem, askAt: null });
        logger.error({ account: accountId, reference: providerId, problem }, "money went back that the ledger kept");
        return 0;
      }
    }
    await inTransaction(storage, async (em) => {
      await (amount > 0 && demandBooked(this.#deps, em, ledgerReference(row)));
      const done = await em.nativeUpdate(Withdrawal, { id, state: "asked" }, { state: "done", askAt: null });
      if (done > 0 && kind === "dispute") {
        const data = { amount_usd: formatUsd(BigInt(amount)), reference: reference ?? "", dispute: providerId ?? "" };
        await announce(em, { type: "payment.disputed", accountId, data });
      }
    });
    return amount;
  }
}

/** Whether it is a refund that the provider may still refuse. */
function isUnderWay({ kind, state }: Withdrawal): boolean {
  return kind === "refund" && (state === "asked" || state === "withdrawn");
}

/** What an error that no retry changes says. Throws any other error. */
function refusalOf(error: unknown): string {
  if (finalReason(error) === undefined) {
    throw error;
  }
  return textOf(error);
}
