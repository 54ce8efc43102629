import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import { formatUsd } from "#lib/money/money.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Account } from "#src/storage/entities/account.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { PicoUsd } from "../../model/interface.ts";
import { priorities } from "../../model/spending-order.ts";
import { sumFreePaidMoney } from "../free-money.ts";
import { findOpenSlices } from "../open-slices.ts";
import { moneyBound } from "./payments.ts";

/** Marks a refund that was refused because cores have leased the money. */
const leasedSql = Symbol("leased");
const refundTries = 5;
const refundRetryMs = 200;
/** Lots that a refund locks at once. */
const refundLots = 100;

/** Takes money out of the account's newest paid lots. Returns the newest one touched. */
export async function takeBack(
  em: SqlEntityManager,
  account: Account,
  { amount, paymentId }: { readonly amount: PicoUsd; readonly paymentId: string },
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<string> {
  const at = new Date(clock.now());
  await checkRefundable(em, account, amount, at);
  let left = amount;
  let newest: string | undefined;
  while (left > 0) {
    const lots = await newestPaidLots(em, account.id, at);
    if (lots.length === 0) {
      throw tooMuch(amount, amount - left, true); // a core leased the money meanwhile
    }
    for (const lot of lots) {
      const taken = Math.min(left, lot.granted - lot.spent - lot.leased - lot.refunded - lot.expired);
      if (taken <= 0) {
        continue;
      }
      lot.refunded += taken;
      left -= taken;
      newest ??= lot.id;
      await em.insert(LotEntry, { id: random.uuid(), lotId: lot.id, kind: "refund", amount: taken, paymentId, at });
    }
    await em.flush();
  }
  account.paidTotal -= BigInt(amount);
  return newest ?? "";
}

async function checkRefundable(em: SqlEntityManager, account: Account, amount: PicoUsd, now: Date): Promise<void> {
  const free = await sumFreePaidMoney(em, account.id, now);
  if (free >= BigInt(amount)) {
    return;
  }
  const slices = await findOpenSlices(em, "account_id", [account.id]);
  const paid = await em.find(Lot, { id: { $in: slices.map((slice) => slice.lotId) }, kind: "paid" });
  const leased = paid.reduce((sum, lot) => sum + BigInt(lot.leased), 0n);
  throw tooMuch(amount, Number(free), BigInt(amount) - free <= leased);
}

/**
 * Takes what is free out of the account's newest paid lots; the rest is owed. Returns the newest lot touched, or else
 * the newest there is, and what is owed.
 */
export async function takeBackOrOwe(
  em: SqlEntityManager,
  account: Account,
  { amount, paymentId }: { readonly amount: PicoUsd; readonly paymentId: string },
  parts: { readonly clock: Clock; readonly random: Random },
): Promise<{ lotId: string; owed: PicoUsd }> {
  const free = await sumFreePaidMoney(em, account.id, new Date(parts.clock.now()));
  const taken = free < BigInt(amount) ? Number(free) : amount;
  const owed = amount - taken;
  if (BigInt(amount) > account.paidTotal) {
    throw tooMuch(amount, Number(account.paidTotal), false);
  }
  account.debt += BigInt(owed);
  account.paidTotal -= BigInt(owed);
  if (taken > 0) {
    return { lotId: await takeBack(em, account, { amount: taken, paymentId }, parts), owed };
  }
  const [newest] = await em.find(
    Lot,
    { accountId: account.id, kind: "paid" },
    { orderBy: { createdAt: "desc", id: "desc" }, limit: 1 },
  );
  if (newest === undefined) {
    throw tooMuch(amount, 0, false);
  }
  return { lotId: newest.id, owed };
}

/** Tries a refund again for a moment when other cores may have leased the money: they were told to give it back. */
export async function insist(
  { storage, clock }: { readonly storage: Storage; readonly clock: Clock },
  attempt: () => Promise<string>,
): Promise<string> {
  for (let tries = storage.dialect === "postgresql" ? refundTries : 1; ; tries--) {
    try {
      return await attempt();
    } catch (error) {
      if (tries <= 1 || (error as Error).cause !== leasedSql) {
        throw error;
      }
      await new Promise<void>((resolve) => clock.after(refundRetryMs, resolve));
    }
  }
}

/** Up to `refundLots` of an account's newest paid lots with free money, locked, newest first. */
async function newestPaidLots(em: SqlEntityManager, accountId: string, now: Date): Promise<Lot[]> {
  const part = (which: string) => `
    select * from (
      select id, created_at from lot where account_id = ? and ${withFreeMoney} and ${which}
        and priority = ${priorities.paid}
      order by created_at desc, id desc limit ${refundLots}) part`;
  const found = await em.execute<{ id: string }[]>(
    `select id from (${part("expires_at is null")} union all ${part("expires_at is not null and expires_at > ?")}) lots
     order by created_at desc, id desc limit ${refundLots}`,
    [accountId, accountId, now],
  );
  const ids = found.map(({ id }) => id);
  const lots = await em.find(
    Lot,
    { id: { $in: ids } },
    { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  return lots.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1));
}

function tooMuch(amount: PicoUsd, free: PicoUsd, leased: boolean) {
  return failure(
    Reason.REFUND_EXCEEDS_BALANCE,
    `Only ${formatUsd(BigInt(free))} USD of paid money is unspent and not held by running requests.`,
    { parameter: "amount_pico_usd", bound: moneyBound(BigInt(free), BigInt(amount)) },
    leased ? leasedSql : undefined,
  );
}

/**
 * The error for a debt that is left. Running requests or other cores hold what could pay it, which may come back in a
 * moment.
 */
export function owes(amount: PicoUsd, debt: bigint) {
  return failure(
    Reason.REFUND_EXCEEDS_BALANCE,
    `The account owes ${formatUsd(debt)} USD, which is paid before anything is refunded.`,
    { parameter: "amount_pico_usd", bound: moneyBound(0n, BigInt(amount)) },
    leasedSql,
  );
}
