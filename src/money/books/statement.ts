import { IsolationLevel, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { withCredit } from "#src/storage/entities/metering/lot-conditions.ts";
import { OwnPrices } from "#src/storage/entities/metering/own-prices.ts";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { PicoUsd } from "../model/interface.ts";
import type { LotStatement, Statement } from "../model/payments.ts";
import { bySpending, firstLots, isPaidFor, priorities, type SpendingKey } from "../model/spending-order.ts";
import { sumFreeMoney } from "./free-money.ts";
import { findOpenSlices, type OpenSlice } from "./open-slices.ts";

/** The most lots that a statement lists. */
export const listedLots = 100;

/** Accounts whose money is read at once; at most `listedLots` lots of each. */
const accountsAtOnce = 100;

interface Dependencies {
  /** The account's money that requests hold on this core. */
  readonly held: (accountId: string) => PicoUsd;
  /** In milliseconds since the epoch, by the database's clock. */
  readonly now: number;
}

/** Reads an account's money from the store, in one snapshot. Throws ACCOUNT_NOT_FOUND. */
export async function readStatement(storage: Storage, accountId: string, parts: Dependencies): Promise<Statement> {
  const [statement] = (await readStatements(storage, [accountId], parts)).values();
  if (statement === undefined) {
    throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
  }
  return statement;
}

/**
 * Reads the money of accounts from the store: a hundred accounts in one snapshot of six queries. Accounts that do not
 * exist are left out.
 */
export async function readStatements(
  storage: Storage,
  accountIds: readonly string[],
  parts: Dependencies,
): Promise<ReadonlyMap<string, Statement>> {
  const statements = new Map<string, Statement>();
  for (let at = 0; at < accountIds.length; at += accountsAtOnce) {
    const ids = accountIds.slice(at, at + accountsAtOnce);
    for (const [id, statement] of await inSnapshot(storage, (em) => readSome(em, storage.dialect, ids, parts))) {
      statements.set(id, statement);
    }
  }
  return statements;
}

async function readSome(
  em: SqlEntityManager,
  dialect: Storage["dialect"],
  ids: readonly string[],
  { held, now }: Dependencies,
): Promise<[string, Statement][]> {
  const at = new Date(now);
  const accounts = await em.find(Account, { id: { $in: [...ids] } });
  const slices = await findOpenSlices(em, "account_id", ids);
  const lotIds = new Set([...slices.map(({ lotId }) => lotId), ...(await findFirstLots(em, dialect, ids, at))]);
  const lots = lotIds.size === 0 ? [] : await em.find(Lot, { id: { $in: [...lotIds] } });
  const free = await sumFreeMoney(em, ids, at);
  const owns = await findOwnPrices(em, lots);
  const owed = await sumOwed(em, ids);
  const creditLots = new Set(lots.filter(({ kind }) => kind === "credit").map(({ id }) => id));
  const slicesOf = Map.groupBy(slices, ({ accountId }) => accountId);
  const lotsOf = Map.groupBy(lots, ({ accountId }) => accountId);
  return accounts.map((account) => {
    const mine = slicesOf.get(account.id) ?? [];
    const unspent = toStatements(lotsOf.get(account.id) ?? [], mine, { now, owns })
      .filter((lot) => lot.remaining > 0)
      .sort((a, b) => bySpending(spendingKey(a), spendingKey(b)));
    const { all = 0n, paid = 0n, credit = 0n } = free.get(account.id) ?? {};
    const drawing = mine.filter(({ lotId }) => creditLots.has(lotId));
    const statement: Statement = {
      createdAt: account.createdAt.getTime(),
      paidTotal: account.paidTotal,
      freeOnly: paid + credit === 0n && !unspent.some((lot) => isPaidFor(lot.kind)),
      balance: unspentOf(mine, all) - unspentOf(drawing, 0n),
      held: BigInt(held(account.id)),
      debt: account.debt + (owed.get(account.id) ?? 0n) + drawing.reduce((sum, { spent }) => sum + BigInt(spent), 0n),
      credit: unspentOf(drawing, credit),
      lots: unspent.slice(0, listedLots),
    };
    return [account.id, statement];
  });
}

/** What is unspent of slices, and of free money. */
const unspentOf = (slices: readonly OpenSlice[], free: bigint): bigint =>
  slices.reduce((sum, slice) => sum + BigInt(slice.granted - slice.spent), free);

/**
 * What is owed on the credit lines of accounts, without what open slices have spent. Accounts that owe nothing are
 * absent.
 */
async function sumOwed(em: SqlEntityManager, accountIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  const rows = await em.execute<Row[]>(
    `select account_id, ${textColumns("owed", "sums")} from (
       select account_id, ${sumColumns("spent - repaid", "owed")} from lot
       where account_id in (${accountIds.map(() => "?").join()}) and ${withCredit} group by account_id) sums`,
    [...accountIds],
  );
  return new Map(rows.map((row) => [String(row.account_id), readSum(row, "owed")]));
}

/** The ids of each account's first lots in the order of spending. Reads those lots alone. */
async function findFirstLots(
  em: SqlEntityManager,
  dialect: Storage["dialect"],
  accountIds: readonly string[],
  at: Date,
): Promise<string[]> {
  const joined = dialect === "postgresql" ? "string_agg(id::text, ',')" : "group_concat(id, ',')";
  const first = firstLots({ account: "account.id", now: "?", limit: String(listedLots) });
  const rows = await em.execute<{ ids: string | null }[]>(
    `select (select ${joined} from (${first}) first) as ids from account where id in (${accountIds.map(() => "?").join()})`,
    [at, ...accountIds],
  );
  return rows.flatMap(({ ids }) => ids?.split(",") ?? []);
}

/** Lots of an account, spent ones included, oldest first: at most `limit`, after the lot whose id is `after`. */
export async function readLots(
  storage: Storage,
  accountId: string,
  { after, limit, now }: PageStart & { readonly now: number },
): Promise<LotStatement[]> {
  return inSnapshot(storage, async (em) => {
    const where = { accountId, ...(after === undefined ? {} : { id: { $gt: after } }) };
    const lots = await em.find(Lot, where, { orderBy: { id: "asc" }, limit });
    const slices = await findOpenSlices(
      em,
      "lot_id",
      lots.map(({ id }) => id),
    );
    return toStatements(lots, slices, { now, owns: await findOwnPrices(em, lots) });
  });
}

/** Runs reads that all see the same state of the store. */
function inSnapshot<T>(storage: Storage, read: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  const options = { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true };
  return storage.orm.em.fork().transactional((em) => read(em as SqlEntityManager), options);
}

interface LotFacts {
  readonly now: number;
  /** By id. */
  readonly owns: ReadonlyMap<string, OwnPrices>;
}

/** The own prices that lots have locked in. */
async function findOwnPrices(em: SqlEntityManager, lots: readonly Lot[]): Promise<ReadonlyMap<string, OwnPrices>> {
  const ids = new Set(lots.flatMap(({ ownPricesId }) => ownPricesId ?? []));
  const owns = ids.size === 0 ? [] : await em.find(OwnPrices, { id: { $in: [...ids] } });
  return new Map(owns.map((own) => [own.id, own]));
}

/** Lots as they stand. `slices` contains at least their open slices. */
function toStatements(lots: readonly Lot[], slices: readonly OpenSlice[], facts: LotFacts): LotStatement[] {
  const spending = new Map<string, number>();
  for (const slice of slices) {
    spending.set(slice.lotId, (spending.get(slice.lotId) ?? 0) + slice.spent);
  }
  return lots.map((lot) => toStatement(lot, spending.get(lot.id) ?? 0, facts));
}

function toStatement(lot: Lot, spentOfSlices: number, { now, owns }: LotFacts): LotStatement {
  const { expiresAt } = lot;
  // Only running requests may still spend from an expired lot, even before it is written off.
  const lapsed = expiresAt instanceof Date && expiresAt.getTime() <= now;
  const left = lapsed ? lot.leased : lot.granted - lot.spent - lot.refunded - lot.expired;
  const own = owns.get(lot.ownPricesId ?? "");
  return {
    id: lot.id,
    kind: lot.kind,
    granted: lot.granted,
    remaining: left - spentOfSlices,
    priceVersion: String(lot.priceVersionId),
    ...(own && { ownPrices: { number: own.number, discount: own.discount } }),
    createdAt: lot.createdAt,
    ...(expiresAt instanceof Date ? { expiresAt } : {}),
  };
}

function spendingKey({ kind, expiresAt, createdAt, id }: LotStatement): SpendingKey {
  return {
    priority: priorities[kind],
    expiresAt: expiresAt?.getTime(),
    createdAt: createdAt.getTime(),
    lotId: id,
  };
}
