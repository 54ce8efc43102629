import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { v5 } from "uuid";
import { type Account, LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { cent, wholeCents } from "#lib/money/cents.ts";
import { formatUsd } from "#lib/money/money.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import { readCollided } from "#src/storage/retry.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { demandCents } from "../cents.ts";
import type { Dependencies } from "../dependencies.ts";
import { askFor, demandProvider } from "../faults.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { carryOnMs, takenOf, type Withdrawals } from "./withdrawals.ts";

/** A wish to get money back. */
export interface RefundRequest {
  /** Empty: the payment says whose. */
  readonly accountId: string;
  /** The payment at the provider. Empty: the account's payments in the order in which they came. */
  readonly reference: string;
  /** In pico-USD. 0: all that is left and unspent. */
  readonly amount: number;
  readonly requestId: string;
}

/** A refund, with the payment that it is of. */
export interface MadeRefund extends Withdrawal {
  readonly reference: string;
}

type Payments = readonly [ProviderPayment, ...ProviderPayment[]];

/** What a request pays back. */
interface Plan {
  readonly rows: Withdrawal[];
  /** The ids of the payments of which the provider has yet to tell what went back. */
  readonly unsure: readonly string[];
}

/** Refunds of unspent money through the provider. */
export class Refunds {
  readonly #deps: Dependencies;
  readonly #withdrawals: Withdrawals;
  readonly #elsewhere: Pick<Elsewhere, "follow">;

  constructor(deps: Dependencies, withdrawals: Withdrawals, elsewhere: Pick<Elsewhere, "follow">) {
    this.#deps = deps;
    this.#withdrawals = withdrawals;
    this.#elsewhere = elsewhere;
  }

  /**
   * Refunds; the same request again refunds nothing more. Throws PAYMENT_NOT_FOUND, REFUND_EXCEEDS_BALANCE, and
   * PAYMENT_REFERENCE_CONFLICT.
   */
  async refund(request: RefundRequest): Promise<MadeRefund[]> {
    demandProvider(this.#deps.provider);
    demandCents(request.amount);
    const payments = await this.#find(request);
    const made = (await this.#before(request, payments)) ?? (await this.#askAnew(request, payments));
    const refunds: MadeRefund[] = [];
    for (const { id, paymentId } of made) {
      const row = await askFor(() => this.#withdrawals.carryOn(id));
      if (row.state === "refused") {
        throw failure(Reason.REFUND_EXCEEDS_BALANCE, row.problem ?? "", { parameter: "amount_pico_usd" });
      }
      refunds.push({ ...row, reference: payments.find((payment) => payment.id === paymentId)?.reference ?? "" });
    }
    return refunds;
  }

  async #find({ accountId, reference }: RefundRequest): Promise<Payments> {
    const named = { ...(accountId === "" ? {} : { accountId }), ...(reference === "" ? {} : { reference }) };
    const isNamed = Object.keys(named).length > 0;
    const where = { ...named, state: "credited" as const };
    const em = this.#deps.storage.orm.em.fork();
    const [first, ...others] = isNamed ? await em.find(ProviderPayment, where, { orderBy: { createdAt: "asc" } }) : [];
    if (first === undefined) {
      throw failure(Reason.PAYMENT_NOT_FOUND, "There is no such payment through the payment provider.", {
        parameter: "reference",
      });
    }
    return [first, ...others];
  }

  /** Throws PAYMENT_REFERENCE_CONFLICT where the request's id was another refund's. */
  async #before({ amount, requestId }: RefundRequest, payments: Payments): Promise<Withdrawal[] | undefined> {
    const em = this.#deps.storage.orm.em.fork();
    const [{ accountId }] = payments;
    const ids = payments.map((_, index) => toOrder(accountId, toCause(requestId, index)));
    const found = await em.find(Withdrawal, { id: { $in: ids } }, { orderBy: { createdAt: "asc", id: "asc" } });
    if (found.length === 0) {
      return undefined;
    }
    const isOfThese = found.every(({ paymentId }) => payments.some(({ id }) => id === paymentId));
    if (!isOfThese || (amount !== 0 && amount !== found.reduce((sum, one) => sum + one.amount, 0))) {
      throw failure(Reason.PAYMENT_REFERENCE_CONFLICT, "The request_id was already used for another refund.", {
        parameter: "request_id",
      });
    }
    return found;
  }

  /**
   * Asks the provider first what has gone back of the payments that it takes from, of which a failover into the past may have
   * lost some, this request's refunds among it.
   */
  async #askAnew(request: RefundRequest, payments: Payments): Promise<Withdrawal[]> {
    const followed = new Set<string>();
    for (;;) {
      const { rows, unsure } = await this.#ask(request, payments, followed);
      if (unsure.length === 0) {
        return rows;
      }
      for (const payment of payments.filter(({ id }) => unsure.includes(id))) {
        await askFor(() => this.#elsewhere.follow(payment));
        followed.add(payment.id);
      }
      const before = await this.#before(request, payments);
      if (before !== undefined) {
        return before;
      }
    }
  }

  /**
   * Plans what goes back of each payment, in the order in which they came, and notes it if all that it takes from were followed.
   * Returns those that were not, too.
   */
  async #ask(request: RefundRequest, payments: Payments, followed: ReadonlySet<string>): Promise<Plan> {
    const { accounts, storage } = this.#deps;
    const [{ accountId }] = payments;
    const { account } = await accounts.getAccount({ accountId });
    const wanted = request.amount === 0 && account !== undefined ? unspentOf(account) : request.amount;
    try {
      return await inTransaction(storage, async (em) => {
        const rows = await this.#plan(em, payments, { ...request, amount: wanted });
        const planned = rows.reduce((sum, { amount }) => sum + amount, 0);
        if (planned === 0 || (request.amount !== 0 && planned < wanted)) {
          throw tooMuch(planned, wanted);
        }
        const unsure = rows.map(({ paymentId }) => paymentId).filter((id) => !followed.has(id));
        await (unsure.length === 0 && em.insertMany(Withdrawal, rows));
        return { rows, unsure };
      });
    } catch (error) {
      // The same request was sent twice at once: the database lets only one of them in.
      const rows = await readCollided(error, () => this.#before(request, payments));
      return { rows, unsure: [] };
    }
  }

  async #plan(em: SqlEntityManager, payments: Payments, { amount, requestId }: RefundRequest): Promise<Withdrawal[]> {
    const now = this.#deps.clock.now();
    const rows: Withdrawal[] = [];
    let left = amount;
    for (const payment of payments) {
      if (left <= 0) {
        break;
      }
      await em.findOne(ProviderPayment, payment.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
      const taken = takenOf(await em.find(Withdrawal, { paymentId: payment.id }));
      const part = Math.min(left, wholeCents(payment.amount - taken.amount));
      if (part <= 0) {
        continue;
      }
      left -= part;
      const cause = toCause(requestId, rows.length);
      rows.push({
        id: toOrder(payment.accountId, cause),
        accountId: payment.accountId,
        paymentId: payment.id,
        kind: "refund",
        cause,
        amount: part,
        paidBack: grossOf(payment, taken.amount + part) - taken.paidBack,
        state: "asked",
        providerId: null,
        problem: null,
        createdAt: new Date(now),
        askAt: new Date(now + carryOnMs),
      });
    }
    return rows;
  }
}

/** What a part of a payment's credit has cost, taxes included, in whole cents: all of it cost what was charged. */
function grossOf({ amount, charged }: ProviderPayment, credit: number): number {
  return wholeCents(Number((BigInt(charged ?? amount) * BigInt(credit)) / BigInt(amount)));
}

/** What asked for a refund: a request's id, and the number of the payment in it. */
function toCause(requestId: string, index: number): string {
  return `${requestId} ${index + 1}`;
}

/** The name of a refund at the provider: the same again after a failover into the past has lost it. */
function toOrder(accountId: string, cause: string): string {
  return v5(`refund ${cause}`, accountId);
}

/** The whole cents of an account's paid money that no running request holds. */
function unspentOf({ lots, heldPicoUsd }: Account): number {
  const unspent = lots.filter(({ kind }) => kind === LotKind.PAID).reduce((sum, lot) => sum + lot.remainingPicoUsd, 0n);
  const free = unspent > heldPicoUsd ? unspent - heldPicoUsd : 0n;
  return Number(free - (free % BigInt(cent)));
}

function tooMuch(most: number, wanted: number) {
  const bound = { limitPicoUsd: BigInt(most), actualPicoUsd: BigInt(wanted) };
  const message = `Only ${formatUsd(BigInt(most))} USD can be paid back this way.`;
  return failure(Reason.REFUND_EXCEEDS_BALANCE, message, {
    parameter: "amount_pico_usd",
    bound: { case: "money", value: bound },
  });
}
