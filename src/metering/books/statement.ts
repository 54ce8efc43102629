import { IsolationLevel } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { Account } from "../../storage/entities/account.ts";
import { Lot } from "../../storage/entities/lot.ts";
import { Slice } from "../../storage/entities/slice.ts";
import type { Storage } from "../../storage/orm.ts";
import type { LotStatement, Statement } from "../interface.ts";

/** An account's money as the store has it, in one snapshot. Throws ACCOUNT_NOT_FOUND. */
export async function readStatement(
  storage: Storage,
  accountId: string,
  { held, now }: { readonly held: bigint; readonly now: number },
): Promise<Statement> {
  const options = storage.dialect === "postgresql" ? { isolationLevel: IsolationLevel.REPEATABLE_READ } : {};
  const { account, lots, slices } = await storage.orm.em.fork().transactional(async (em) => {
    const account = await em.findOne(Account, accountId);
    const lots = await em.find(Lot, { accountId });
    const slices = await em.find(Slice, { lotId: { $in: lots.map((lot) => lot.id) }, open: true });
    return { account, lots, slices };
  }, options);
  if (account === null)
    throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });

  const spending = new Map<string, number>();
  for (const slice of slices) spending.set(slice.lotId, (spending.get(slice.lotId) ?? 0) + slice.spent);
  const statements = lots
    .sort(bySpending)
    .map((lot) => toStatement(lot, spending.get(lot.id) ?? 0, now))
    .filter((lot) => lot.remaining > 0);
  return {
    createdAt: account.createdAt.getTime(),
    paidTotal: account.paidTotal,
    freeOnly: !statements.some((lot) => lot.kind === "paid"),
    balance: statements.reduce((sum, lot) => sum + BigInt(lot.remaining), 0n),
    held,
    debt: account.debt,
    lots: statements,
  };
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

function bySpending(a: Lot, b: Lot): number {
  const never = Number.POSITIVE_INFINITY;
  const expiry = (lot: Lot) => lot.expiresAt?.getTime() ?? never;
  return (
    a.priority - b.priority ||
    (expiry(a) === expiry(b) ? 0 : expiry(a) - expiry(b)) ||
    a.createdAt.getTime() - b.createdAt.getTime() ||
    (a.id < b.id ? -1 : 1)
  );
}
