import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { formatUsd, maxPicoUsd } from "#lib/money/money.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { PicoUsd } from "../../model/interface.ts";

/** The largest number of a 64-bit column. */
const mostPaid = 2n ** 63n - 1n;

/** Bounds on payments, in pico-USD. */
export interface PaymentLimits {
  readonly minimum: bigint;
  readonly maximum: bigint;
  /** Bound on all payments of an account within any 24 hours. */
  readonly rolling24h: bigint;
}

/** What bounds a payment that was ordered within earlier limits: it comes in when it is the only one of a day, at the latest. */
export function boundsOfOrdered({ rolling24h }: PaymentLimits, amount: PicoUsd): PaymentLimits {
  const asked = BigInt(amount);
  return { minimum: 0n, maximum: asked, rolling24h: rolling24h > asked ? rolling24h : asked };
}

/**
 * Refuses a payment that is out of bounds, alone or together with the payments of the last 24 hours. Throws PAYMENT_….
 */
export async function checkLimits(
  em: SqlEntityManager,
  accountId: string,
  amount: PicoUsd,
  { limits, clock }: { readonly limits: PaymentLimits; readonly clock: Clock },
): Promise<void> {
  const refuse = (reason: Reason, limit: bigint, actual: bigint, message: string) =>
    failure(reason, message, { parameter: "amount_pico_usd", bound: moneyBound(limit, actual) });
  const asked = BigInt(amount);
  if (asked < limits.minimum) {
    throw refuse(
      Reason.PAYMENT_BELOW_MINIMUM,
      limits.minimum,
      asked,
      `A payment must be at least ${formatUsd(limits.minimum)} USD (payment minimum).`,
    );
  }
  if (asked > limits.maximum) {
    throw refuse(
      Reason.PAYMENT_ABOVE_MAXIMUM,
      limits.maximum,
      asked,
      `A payment must be at most ${formatUsd(limits.maximum)} USD (payment maximum).`,
    );
  }
  const since = new Date(clock.now() - dayMs);
  const [recent] = await em.execute<Row[]>(
    `select ${textColumns("paid", "sums")} from (
       select ${sumColumns("amount", "paid")} from payment where account_id = ? and kind = 'paid' and at > ?) sums`,
    [accountId, since],
  );
  const total = readSum(recent, "paid") + asked;
  if (total > limits.rolling24h) {
    throw refuse(
      Reason.PAYMENT_24H_LIMIT,
      limits.rolling24h,
      total,
      `Payments of an account within 24 hours must not pass ${formatUsd(limits.rolling24h)} USD in total (rolling 24-hour limit).`,
    );
  }
}

/** The bound that an amount exceeds, in the form of an error detail. */
export function moneyBound(limitPicoUsd: bigint, actualPicoUsd?: bigint) {
  const value = { limitPicoUsd, ...(actualPicoUsd === undefined ? {} : { actualPicoUsd }) };
  return { case: "money", value } as const;
}

/** The lot of the same payment if it was taken before. Throws when the reference belongs to a different payment. */
export async function sameBefore(
  em: SqlEntityManager,
  payment: Pick<Payment, "accountId" | "kind" | "amount" | "reference">,
): Promise<string | undefined> {
  const before = await em.findOne(Payment, { reference: payment.reference });
  if (before === null) {
    return undefined;
  }
  const same =
    before.accountId === payment.accountId && before.kind === payment.kind && before.amount === payment.amount;
  if (same) {
    return before.lotId;
  }
  throw failure(
    Reason.PAYMENT_REFERENCE_CONFLICT,
    `The reference ${payment.reference} was already used for another account, kind or amount.`,
    { parameter: "reference" },
  );
}

/** The prices that a lot locks in. */
export type LotPrices = Pick<Lot, "priceVersionId" | "ownPricesId">;

/** The prices of the money that a refund took. Throws unless it is a refund of this account and amount. */
export async function pricesOfRefund(
  em: SqlEntityManager,
  { accountId, amount, undoes }: { readonly accountId: string; readonly amount: PicoUsd; readonly undoes: string },
): Promise<LotPrices> {
  const refund = await em.findOne(Payment, { reference: undoes, kind: "refund", accountId, amount });
  const lot = refund && (await em.findOne(Lot, refund.lotId));
  if (lot) {
    return { priceVersionId: lot.priceVersionId, ownPricesId: lot.ownPricesId ?? null };
  }
  throw failure(Reason.INVALID_ARGUMENT, `The account has no refund ${undoes} of this amount.`, {
    parameter: "undoes",
  });
}

/** Throws INVALID_ARGUMENT unless the amount is a safe integer above 0. */
export function checkAmount(amount: PicoUsd): void {
  if (Number.isSafeInteger(amount) && amount > 0) {
    return;
  }
  throw failure(Reason.INVALID_ARGUMENT, `An amount must be above 0 and at most ${formatUsd(maxPicoUsd)} USD.`, {
    parameter: "amount_pico_usd",
    bound: moneyBound(maxPicoUsd),
  });
}

/** The new sum of what an account has paid. Throws INVALID_ARGUMENT past 64 bits, where SQLite would round it. */
export function addPaid(total: bigint, amount: bigint): bigint {
  if (total + amount <= mostPaid) {
    return total + amount;
  }
  throw failure(
    Reason.INVALID_ARGUMENT,
    `An account cannot have paid more than ${formatUsd(mostPaid)} USD in total: open another one.`,
    { parameter: "amount_pico_usd" },
  );
}
