import { IsolationLevel, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { PageStart } from "../../../lib/rpc/pages.ts";
import { Account } from "../../storage/entities/account.ts";
import { Lot } from "../../storage/entities/metering/lot.ts";
import { Slice } from "../../storage/entities/metering/slice.ts";
import type { Storage } from "../../storage/orm.ts";
import { bySpending, firstLots, priorities, type SpendingKey } from "../store/spending-order.ts";
import { sumFreeMoney } from "./free-money.ts";
import type { LotStatement, Statement } from "./payments/interface.ts";

/** Lots that a statement lists. */
export const listedLots = 100;

/** An account's money as the store has it, in one snapshot. Throws ACCOUNT_NOT_FOUND. */
export async function readStatement(
  storage: Storage,
  accountId: string,
  { held, now }: { readonly held: bigint; readonly now: number },
): Promise<Statement> {
  const at = new Date(now);
  const { account, free, lots, slices, paid } = await inSnapshot(storage, async (em) => {
    const account = await em.findOne(Account, accountId);
    if (account === null) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
    }
    const slices = await em.find(Slice, { accountId, open: true });
    const first = await em.execute<{ id: string }[]>(
      `select id from (${firstLots({ account: "?", now: "?", limit: String(listedLots) })}) first`,
      [accountId, at, accountId],
    );
    const ids = new Set([...first, ...slices.map(({ lotId }) => ({ id: lotId }))].map(({ id }) => id));
    const lots = await em.find(Lot, { id: { $in: [...ids] } });
    const free = await sumFreeMoney(em, accountId, at);
    const paid = await sumFreeMoney(em, accountId, at, "paid");
    return { account, free, lots, slices, paid };
  });

  const statements = toStatements(lots, slices, now)
    .filter((lot) => lot.remaining > 0)
    .sort((a, b) => bySpending(spendingKey(a), spendingKey(b)));
  return {
    createdAt: account.createdAt.getTime(),
    paidTotal: account.paidTotal,
    freeOnly: paid === 0n && !statements.some((lot) => lot.kind === "paid"),
    balance: slices.reduce((sum, slice) => sum + BigInt(slice.granted - slice.spent), free),
    held,
    debt: account.debt,
    lots: statements.slice(0, listedLots),
  };
}

/** Lots of an account, spent ones included, oldest first: so many behind a lot's id. */
export async function readLots(
  storage: Storage,
  accountId: string,
  { after, limit, now }: PageStart & { readonly now: number },
): Promise<LotStatement[]> {
  return inSnapshot(storage, async (em) => {
    const where = { accountId, ...(after === undefined ? {} : { id: { $gt: after } }) };
    const lots = await em.find(Lot, where, { orderBy: { id: "asc" }, limit });
    const slices = await em.find(Slice, { lotId: { $in: lots.map(({ id }) => id) }, open: true });
    return toStatements(lots, slices, now);
  });
}

/** Runs reads that see one state of the store. */
function inSnapshot<T>(storage: Storage, read: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  const options = storage.dialect === "postgresql" ? { isolationLevel: IsolationLevel.REPEATABLE_READ } : {};
  return storage.orm.em.fork().transactional((em) => read(em as SqlEntityManager), options);
}

/** Lots as they stand, given at least their open slices. */
function toStatements(lots: readonly Lot[], slices: readonly Slice[], now: number): LotStatement[] {
  const spending = new Map<string, number>();
  for (const slice of slices) {
    spending.set(slice.lotId, (spending.get(slice.lotId) ?? 0) + slice.spent);
  }
  return lots.map((lot) => toStatement(lot, spending.get(lot.id) ?? 0, now));
}

function toStatement(lot: Lot, spentOfSlices: number, now: number): LotStatement {
  const { expiresAt } = lot;
  // Of a lot whose time is over only running requests may still spend, though it has not been written off yet.
  const lapsed = expiresAt instanceof Date && expiresAt.getTime() <= now;
  const left = lapsed ? lot.leased : lot.granted - lot.spent - lot.refunded - lot.expired;
  return {
    id: lot.id,
    kind: lot.kind,
    granted: lot.granted,
    remaining: left - spentOfSlices,
    priceVersion: String(lot.priceVersionId),
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
