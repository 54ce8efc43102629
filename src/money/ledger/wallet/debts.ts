import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { BalanceJudge } from "../../model/balances.ts";
import type { PicoUsd } from "../../model/interface.ts";
import { firstLots } from "../../model/spending-order.ts";
import { noId } from "../../model/store/wallet.ts";
import { findUnfit, settleCredit } from "./credit-line.ts";

/** Accounts read at once. */
const accountsAtOnce = 100;
/** Lots locked at once. */
const lotsAtOnce = 100;

/** Pays the debts of accounts. */
export interface Debts {
  /**
   * Pays an account's debt, and what it owes on its credit line, out of its money that no core has leased. Returns the
   * amount paid.
   */
  pay(accountId: string): Promise<PicoUsd>;
  /**
   * Pays the debts of all accounts that have money that no core has leased, and fits the credit lines that need it:
   * `fitWith` runs that for an account, while what cores have of the line is given back.
   */
  payAll(fitWith?: (accountId: string, run: () => Promise<PicoUsd>) => Promise<unknown>): Promise<void>;
}

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  /** Judges the balance that a paid debt leaves. Absent: it is not judged. */
  readonly balances?: Pick<BalanceJudge, "judgeFall"> | undefined;
}

/** Pays debts, each account in its own transaction. */
export function createDebts({ storage, clock, random, balances }: Dependencies): Debts {
  const pay = (accountId: string) =>
    inTransaction(storage, async (em) => {
      const account = await em.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (account === null) {
        return 0;
      }
      const paid = await payDebt(em, account, { clock, random });
      if (paid > 0) {
        await balances?.judgeFall(em, account);
      }
      return paid;
    });
  const owing = (after: string) =>
    storage.orm.em.fork().execute<{ id: string }[]>(
      `select id from account where debt > 0 and id > ? and exists (
         select 1 from lot where account_id = account.id and ${withFreeMoney})
       order by id limit ${accountsAtOnce}`,
      [after],
    );
  const unfit = (after: string) => findUnfit(storage.orm.em.fork(), { after, limit: accountsAtOnce, now: clock.now() });
  return {
    pay,
    async payAll(fitWith = (_, run) => run()) {
      await eachOf(owing, pay);
      await eachOf(unfit, (accountId) => fitWith(accountId, () => pay(accountId)));
    },
  };
}

/** Does something for each account of a list that is read page by page. */
async function eachOf(
  find: (after: string) => Promise<{ id: string }[]>,
  act: (accountId: string) => Promise<unknown>,
): Promise<void> {
  for (let page = await find(noId); page.length > 0; ) {
    for (const { id } of page) {
      await act(id);
    }
    page = await find(page.at(-1)?.id ?? noId);
  }
}

/**
 * Pays the debt of an account that the transaction has locked, in the order of spending, then what it owes on its credit
 * line, and fits the line. Returns the amount paid.
 */
export async function payDebt(
  em: SqlEntityManager,
  account: Account,
  parts: Pick<Dependencies, "clock" | "random">,
): Promise<PicoUsd> {
  const paid = await payShortfall(em, account, parts);
  return paid + (await settleCredit(em, account, parts));
}

/** Pays what no money was left for. */
async function payShortfall(
  em: SqlEntityManager,
  account: Account,
  { clock, random }: Pick<Dependencies, "clock" | "random">,
): Promise<PicoUsd> {
  const at = new Date(clock.now());
  let paid = 0;
  while (account.debt > 0n) {
    const query = firstLots({ account: "?", now: "?", limit: String(lotsAtOnce) });
    const found = await em.execute<{ id: string }[]>(query, [account.id, at, account.id]);
    const ids = found.map(({ id }) => id);
    const where = { id: { $in: ids } };
    const lots = await em.find(Lot, where, {
      orderBy: { id: "asc" as const },
      lockMode: LockMode.PESSIMISTIC_WRITE,
      refresh: true,
    });
    let taken = 0;
    for (const lot of lots.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))) {
      const free = lot.granted - lot.spent - lot.leased - lot.refunded - lot.expired;
      const amount = account.debt < BigInt(free) ? Number(account.debt) : free;
      if (amount === 0) {
        continue;
      }
      lot.spent += amount;
      account.debt -= BigInt(amount);
      taken += amount;
      await em.insert(LotEntry, { id: random.uuid(), lotId: lot.id, kind: "debt", amount, paymentId: null, at });
    }
    await em.flush();
    if (taken === 0) {
      break;
    }
    paid += taken;
  }
  return paid;
}
