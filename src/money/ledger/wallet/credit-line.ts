import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import type { Account } from "#src/storage/entities/account.ts";
import { maxAmount } from "#src/storage/entities/amount.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { withCredit, withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import type { PicoUsd } from "../../model/interface.ts";
import { firstLots, freeMoney, priorities } from "../../model/spending-order.ts";
import { newestVersion } from "../../prices/newest-version.ts";
import { readOwnPrices } from "../../prices/own-prices.ts";

// A credit line is a row of credit lots, which are leased and spent like any others, after all others. What was spent of
// them and not repaid is owed. `granted - refunded - repaid` of all of them is what is owed and what may still be drawn
// together: a charge does not change it, so it is fitted to the line without knowing what cores are charging.

/** Lots that pay at once. */
const lotsAtOnce = 100;

interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
}

/** A lot's money that no core has leased. */
const freeOf = (lot: Lot): PicoUsd => lot.granted - lot.spent - lot.leased - lot.refunded - lot.expired;

const sumOf = (owed: ReadonlyMap<Lot, PicoUsd>): PicoUsd => [...owed.values()].reduce((sum, part) => sum + part, 0);

/** The beginning of a moment's UTC day. */
const dayOf = (ms: number): number => ms - (ms % dayMs);

/** Before the time of any clock, however wrong: a core whose clock is an hour slow leases nothing of the lot either. */
const longAgo = new Date(0);

/** Whether no core leases from a credit lot any more: what comes back to it goes back to the line. */
const isRetired = ({ expiresAt }: Lot): boolean => expiresAt instanceof Date;

/** The ids of an account's credit lots that can be drawn or are owed for. */
async function findCredit(em: SqlEntityManager, accountId: string): Promise<string[]> {
  const query = `select id from lot where account_id = ? and ${withCredit}`;
  return (await em.execute<{ id: string }[]>(query, [accountId])).map(({ id }) => id);
}

/** The ids of an account's first bought lots that have free money, in the order of spending. */
async function findPayers(em: SqlEntityManager, accountId: string, at: Date): Promise<string[]> {
  const query = firstLots({ account: "?", now: "?", limit: String(lotsAtOnce), which: "paid" });
  return (await em.execute<{ id: string }[]>(query, [accountId, at, accountId])).map(({ id }) => id);
}

/** Locks lots, ordered by id. */
async function lockLots(em: SqlEntityManager, ids: readonly string[]): Promise<Lot[]> {
  if (ids.length === 0) {
    return [];
  }
  const where = { id: { $in: [...ids] } };
  return em.find(Lot, where, {
    orderBy: { id: "asc" as const },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
}

/**
 * What is owed on each of the locked credit lots. What open slices have spent is read after the lots are locked: a slice
 * that closes meanwhile waits for its lot, so nothing counts twice.
 */
async function readOwed(em: SqlEntityManager, lots: readonly Lot[]): Promise<Map<Lot, PicoUsd>> {
  const spending =
    lots.length === 0
      ? []
      : await em.execute<{ lot_id: string; spent: string | number }[]>(
          `select lot_id, sum(spent) as spent from slice
           where lot_id in (${lots.map(() => "?").join()}) and open group by lot_id`,
          lots.map(({ id }) => id),
        );
  const ofSlices = new Map(spending.map((row) => [row.lot_id, Number(row.spent)]));
  return new Map(lots.map((lot) => [lot, lot.spent + (ofSlices.get(lot.id) ?? 0) - lot.repaid]));
}

/** What an account owes on its credit line. Call it in a transaction that has locked the account. */
export async function readCreditOwed(em: SqlEntityManager, accountId: string): Promise<PicoUsd> {
  return sumOf(await readOwed(em, await lockLots(em, await findCredit(em, accountId))));
}

/**
 * Repays what an account owes on its credit line, and fits the line. Call it in a transaction that has locked the account.
 * Returns the amount repaid.
 */
export async function settleCredit(em: SqlEntityManager, account: Account, parts: Dependencies): Promise<PicoUsd> {
  const ids = await findCredit(em, account.id);
  if (ids.length === 0 && account.creditLine === 0) {
    return 0;
  }
  // All at once: leases lock lots in the order of ids, too.
  const payers = await findPayers(em, account.id, new Date(parts.clock.now()));
  const locked = await lockLots(em, [...ids, ...payers]);
  const credit = locked.filter(({ kind }) => kind === "credit");
  const repaid = await repay(em, account, credit, parts);
  await fitLine(em, account, credit, parts);
  return repaid;
}

/**
 * Repays what is owed out of bought money that no core has leased, oldest first on both sides. Free money and gifts never
 * pay: they are spent, and the line is not drawn meanwhile.
 */
async function repay(
  em: SqlEntityManager,
  account: Account,
  lots: readonly Lot[],
  { clock, random }: Dependencies,
): Promise<PicoUsd> {
  const at = new Date(clock.now());
  const note = (lot: Lot, kind: "debt" | "repaid", amount: PicoUsd) =>
    em.insert(LotEntry, { id: random.uuid(), lotId: lot.id, kind, amount, paymentId: null, at });
  const owed = await readOwed(em, lots);
  let left = sumOf(owed);
  let paid = 0;
  for (let taken = left; left > 0 && taken > 0; ) {
    const ids = await findPayers(em, account.id, at);
    const payers = await lockLots(em, ids);
    taken = 0;
    for (const lot of payers.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))) {
      const amount = Math.min(left, freeOf(lot));
      if (amount > 0) {
        lot.spent += amount;
        left -= amount;
        taken += amount;
        await note(lot, "debt", amount);
      }
    }
    await em.flush();
    paid += taken;
  }
  let rest = paid;
  for (const [lot, part] of owed) {
    const amount = Math.min(rest, part);
    if (amount > 0) {
      lot.repaid += amount;
      rest -= amount;
      await note(lot, "repaid", amount);
    }
  }
  await em.flush();
  return paid;
}

/**
 * Makes what is owed and what may still be drawn together as large as the account's line: takes back what is beyond it and
 * what was granted on an earlier day at other prices, as far as no core has leased it, and grants what is missing at
 * today's. What cores have leased of a lot that is too much comes back to no lease.
 */
async function fitLine(
  em: SqlEntityManager,
  account: Account,
  lots: readonly Lot[],
  { clock, random }: Dependencies,
): Promise<void> {
  let excess = lots.reduce((sum, { granted, refunded, repaid }) => sum + granted - refunded - repaid, 0);
  excess -= account.creditLine;
  const now = clock.now();
  const at = new Date(now);
  const version = await newestVersion(em);
  const own = (await readOwnPrices(em, account.id))?.id ?? null;
  const isAsNow = (lot: Lot) => lot.priceVersionId === version && (lot.ownPricesId ?? null) === own;
  const isOutdated = (lot: Lot) => isRetired(lot) || (!isAsNow(lot) && lot.createdAt.getTime() < dayOf(now));
  const entry = (lotId: string, kind: "grant" | "refund", amount: PicoUsd) =>
    em.insert(LotEntry, { id: random.uuid(), lotId, kind, amount, paymentId: null, at });
  for (const lot of lots.toReversed()) {
    const amount = isOutdated(lot) ? freeOf(lot) : Math.min(freeOf(lot), Math.max(0, excess));
    if (amount > 0) {
      lot.refunded += amount;
      excess -= amount;
      await entry(lot.id, "refund", amount);
    }
  }
  for (const lot of lots) {
    if (!isRetired(lot) && (excess > 0 || isOutdated(lot))) {
      lot.expiresAt = longAgo;
    }
  }
  await em.flush();
  const missing = -excess;
  if (missing <= 0) {
    return;
  }
  const last = lots.findLast((lot) => !isRetired(lot) && isAsNow(lot));
  if (last !== undefined && last.granted <= maxAmount - missing) {
    last.granted += missing;
    await entry(last.id, "grant", missing);
  } else {
    const id = random.uuid();
    await em.insert(Lot, {
      id,
      accountId: account.id,
      kind: "credit",
      priority: priorities.credit,
      granted: missing,
      spent: 0,
      leased: 0,
      refunded: 0,
      expired: 0,
      repaid: 0,
      priceVersionId: version,
      ownPricesId: own,
      createdAt: at,
      expiresAt: null,
      paymentId: null,
    });
    await entry(id, "grant", missing);
  }
  await em.flush();
}

/** The own prices of a lot's account. Null: it pays the general prices. */
const newestOwn = `
  select case when discount > 0 or exists (select 1 from own_price where own_prices_id = own_prices.id) then id end
  from own_prices where account_id = lot.account_id order by number desc limit 1`;

/**
 * Accounts whose credit line is not as large as it should be, that have lots of it from an earlier day at other prices, or
 * bought money beside what they owe on it, ordered by id.
 */
export function findUnfit(
  em: SqlEntityManager,
  { after, limit, now }: { readonly after: string; readonly limit: number; readonly now: number },
): Promise<{ id: string }[]> {
  return em.execute(
    `select account.id from (
       select id from account where credit_line > 0 union select account_id from lot where ${withCredit}) of_credit
     join account on account.id = of_credit.id
     left join (
       select account_id, sum(granted - refunded - repaid) as drawable, sum(spent - repaid) as owed, sum(${freeMoney}) as free,
         max(case when expires_at is not null then case when ${freeMoney} > 0 then 1 else 0 end
           when created_at < ? and granted > spent + refunded
             and (price_version_id < (select max(id) from price_version) or own_prices_id is distinct from (${newestOwn}))
             then 1 else 0 end) as outdated
       from lot where ${withCredit} group by account_id) line on line.account_id = account.id
     where account.id > ? and (coalesce(line.drawable, 0) < account.credit_line or line.outdated = 1
       or (line.drawable > account.credit_line and line.free > 0)
       or (line.owed > 0 and exists (
         select 1 from lot where account_id = account.id and ${withFreeMoney} and priority = ${priorities.paid}
           and (expires_at is null or expires_at > ?))))
     order by account.id limit ${limit}`,
    [new Date(dayOf(now)), after, new Date(now)],
  );
}
