import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { validate as isUuid, v5 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Account, closedReason } from "#src/storage/entities/account.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { readCollided } from "#src/storage/retry.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Dependencies } from "./dependencies.ts";
import { demandBooked, finalReason, textOf } from "./faults.ts";
import type { Found, ProviderEvent } from "./provider.ts";

/** What became of a payment. See `PaymentOutcome` of the contract. */
export interface Credited {
  readonly outcome: "credited" | "unmatched" | "refused" | "postponed" | "unchanged";
  /** For people. */
  readonly detail: string;
  /** Undefined: the ledger does not have it. */
  readonly payment?: ProviderPayment;
}

/** Money that the provider has, and what is known of it. Amounts are in pico-USD. */
interface Paid {
  readonly row: ProviderPayment | undefined;
  /** The order that made it, as it says itself. Undefined: none of this service. */
  readonly order: string | undefined;
  readonly accountId: string;
  readonly reference: string;
  readonly credit: number;
  readonly charged: number;
}

/** Milliseconds until money that the ledger does not take yet is offered to it again. */
const againMs = 3_600_000;
/** Nobody expects a card to be charged twice in a minute: a charge that is too small rests for an hour. */
export const answeredMs = 3_600_000;

/**
 * The order of a crossing's charge: the same again after a failover into the past has lost it, so that the provider charges
 * the card once.
 */
export function orderOfCrossing(accountId: string, crossing: number): string {
  return v5(`auto top-up ${crossing}`, accountId);
}

/** A payment that nobody has made yet. `askInMs`: until the provider is asked how it stands. */
export function newPayment(
  order: Pick<ProviderPayment, "id" | "accountId" | "origin" | "cause" | "amount">,
  now: number,
  askInMs: number,
): ProviderPayment {
  const nothingYet = { charged: null, session: null, url: null, reference: null, problem: null, refusedAt: null };
  return { ...order, ...nothingYet, state: "open", createdAt: new Date(now), askAt: new Date(now + askInMs) };
}

/** Payments at the provider: credits each once, as the provider tells it, in whatever order and however often. */
export class Payments {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Asks the provider about what an event names. The event's own claim counts only where nobody can be asked. */
  async ask({ about, claim }: Pick<ProviderEvent, "about" | "claim">): Promise<Found | undefined> {
    const { provider } = this.#deps;
    if (about === undefined || provider === undefined) {
      return claim;
    }
    if ("session" in about) {
      return provider.checkout.read(about.session);
    }
    const found = await provider.charge.read(about.payment);
    const { session } = (await this.#ordered(found)) ?? {};
    // The session tells what was bought; the payment has the taxes in it.
    return session ? provider.checkout.read(session) : found;
  }

  /** Brings a payment into the ledger if it is paid. Throws nothing that a retry would not change. */
  async credit(found: Found): Promise<Credited> {
    const { state, reference, currency, credit, charged = credit } = found;
    const row = await this.#ordered(found);
    if (state !== "paid" || reference === undefined) {
      if (state === "closed" && row !== undefined) {
        await this.#update(row, { state: "expired", askAt: null });
      }
      return { outcome: "unchanged", detail: "nobody has paid" };
    }
    if (row?.state === "credited") {
      return { outcome: "credited", detail: "credited before", payment: row };
    }
    const accountId = row?.accountId ?? found.accountId;
    if (accountId === undefined) {
      return { outcome: "unmatched", detail: "the payment names no account in metadata.account_id" };
    }
    if (currency !== "usd" || credit === undefined || charged === undefined) {
      return this.#refuse(
        row,
        currency === "usd" ? "no amount" : `only USD are taken, not ${currency || "no currency"}`,
      );
    }
    if (row !== undefined) {
      await this.#update(row, { state: "paid", reference, charged });
    }
    return this.#enter({ row, order: found.order, accountId, reference, credit, charged });
  }

  /** Brings money that is paid into the ledger, unless nobody has its account any more. */
  async #enter(paid: Paid): Promise<Credited> {
    const { row, accountId, reference, credit } = paid;
    const { storage, isBooked, logger } = this.#deps;
    if ((await this.#isOfNobody(accountId)) && !(await isBooked(storage.orm.em.fork(), reference))) {
      return this.#refuse(row, "the account was closed before the money came");
    }
    const { accounts, topUpOrdered } = this.#deps;
    const topUp = row !== undefined && credit <= row.amount ? topUpOrdered : accounts.topUp;
    try {
      await topUp({ accountId, amountPicoUsd: BigInt(credit), reference });
    } catch (error) {
      return this.#explain(row, error);
    }
    const payment = await this.#note(paid);
    logger.info({ reference, account: accountId }, "payment credited");
    if (await this.#isOfNobody(accountId)) {
      logger.error(
        { reference, account: accountId },
        "a payment came in while its account was closed: refund what is left of it",
      );
    }
    return { outcome: "credited", detail: "credited", payment };
  }

  /** Whether nobody has the account any more, so that its money is out of reach. */
  async #isOfNobody(accountId: string): Promise<boolean> {
    const em = this.#deps.storage.orm.em.fork();
    const closed = { id: accountId, frozenReason: closedReason };
    const isClosed = isUuid(accountId) && (await em.count(Account, closed)) > 0;
    return isClosed && (await em.count(Member, { accountId })) === 0;
  }

  /**
   * The payment of this service that a found one pays. Undefined: it was made elsewhere, and is not credited. A second
   * payment of one order is a payment of its own: its money has come, too.
   */
  async #ordered({ order, reference }: Found): Promise<ProviderPayment | undefined> {
    const em = this.#deps.storage.orm.em.fork();
    const made = order !== undefined && isUuid(order) ? await em.findOne(ProviderPayment, order) : null;
    if (made !== null && (!made.reference || reference === undefined || made.reference === reference)) {
      return made;
    }
    return reference === undefined ? undefined : ((await em.findOne(ProviderPayment, { reference })) ?? undefined);
  }

  async #explain(row: ProviderPayment | undefined, error: unknown): Promise<Credited> {
    const reason = finalReason(error);
    if (reason === undefined) {
      const askAt = new Date(this.#deps.clock.now() + againMs);
      await (row && this.#update(row, { problem: textOf(error), askAt }));
      return { outcome: "postponed", detail: textOf(error) };
    }
    return reason === Reason.ACCOUNT_NOT_FOUND
      ? { outcome: "unmatched", detail: textOf(error) }
      : this.#refuse(row, textOf(error));
  }

  async #refuse(row: ProviderPayment | undefined, problem: string): Promise<Credited> {
    await (row && this.#update(row, { state: "paid", problem, askAt: null }));
    return { outcome: "refused", detail: problem };
  }

  async #update({ id }: ProviderPayment, facts: Partial<ProviderPayment>): Promise<void> {
    const open = { id, state: { $ne: "credited" as const } };
    await inTransaction(this.#deps.storage, (em) => em.nativeUpdate(ProviderPayment, open, facts));
  }

  /** Notes that the ledger has a payment. */
  async #note(of: Paid): Promise<ProviderPayment> {
    const { storage, clock } = this.#deps;
    const { row, accountId, reference, credit: amount, charged } = of;
    const facts = { amount, charged, reference, state: "credited" as const, problem: null, askAt: null };
    const note = () =>
      inTransaction(storage, async (em) => {
        await demandBooked(this.#deps, em, reference);
        if (row === undefined) {
          const order = { ...(await this.#identify(em, of)), amount };
          await em.insert(ProviderPayment, { ...newPayment(order, clock.now(), 0), ...facts });
        } else {
          await em.nativeUpdate(ProviderPayment, row.id, facts);
        }
        if (row?.origin === "auto") {
          await em.nativeUpdate(AutoTopUp, { accountId, charging: row.id }, { charging: null, declines: 0 });
        }
      });
    const noted = { reference, state: "credited" as const };
    const find = async () => (await storage.orm.em.fork().findOne(ProviderPayment, noted)) ?? undefined;
    // Another core may have noted it meanwhile.
    return note().then(
      () => storage.orm.em.fork().findOneOrFail(ProviderPayment, { reference }),
      (error: unknown) => readCollided(error, find),
    );
  }

  /**
   * What has made a payment without a row: somebody elsewhere, or an order that a failover into the past has lost. The charge
   * of the account's next crossing answers it.
   */
  async #identify(em: SqlEntityManager, { order, accountId, reference }: Paid) {
    const { clock, random } = this.#deps;
    const isLost = order !== undefined && isUuid(order) && (await em.count(ProviderPayment, order)) === 0;
    const made = { id: isLost ? order : random.uuid(), accountId, origin: "elsewhere" as const, cause: reference };
    const auto = isLost && (await em.findOne(AutoTopUp, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE }));
    const crossing = (auto ? auto.crossing : 0) + 1;
    if (!isLost || order !== orderOfCrossing(accountId, crossing)) {
      return made;
    }
    const answered = { crossing, declines: 0, notBefore: new Date(clock.now() + answeredMs) };
    await em.nativeUpdate(AutoTopUp, { accountId }, answered);
    return { ...made, origin: "auto" as const, cause: String(crossing) };
  }
}
