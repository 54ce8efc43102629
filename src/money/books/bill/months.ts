import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Month, MonthOfModel } from "#gen/tollgate/metering/v1/month_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Account } from "#src/storage/entities/account.ts";
import { withCredit } from "#src/storage/entities/metering/lot-conditions.ts";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { TimeSpan } from "../proof/scope.ts";
import { streamUsage } from "../receipts/usage.ts";
import { readSealNumbers } from "./day-proofs.ts";
import { readLotBalances } from "./lot-balances.ts";
import { readBalance, readMovements } from "./movements.ts";

/** The months that are listed unless one is named. */
const listed = 12;

/** An account's months, newest first, and the account. */
export interface Months {
  readonly account: Account;
  readonly months: readonly Month[];
}

/** Reads an account's UTC months. Throws ACCOUNT_NOT_FOUND, INVALID_ARGUMENT, LEDGER_UNAVAILABLE. */
export async function readMonths(
  storage: Storage,
  { accountId, month, now }: { readonly accountId: string; readonly month: string; readonly now: number },
): Promise<Months> {
  const account = isUuid(accountId) ? await storage.orm.em.fork().findOne(Account, accountId) : null;
  if (account === null) {
    throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
  }
  const newest = month === "" ? beginning(now, 0) : Date.parse(`${month}-01T00:00:00Z`);
  if (newest > now) {
    throw failure(Reason.INVALID_ARGUMENT, "This month has not begun.", { parameter: "month" });
  }
  const months: Month[] = [];
  for (let ago = 0; ago < (month === "" ? listed : 1); ago++) {
    const [from, end] = [beginning(newest, ago), beginning(newest, ago - 1)];
    if (month === "" && end <= account.createdAt.getTime()) {
      break;
    }
    months.push(await readMonth(storage, accountId, { from, to: Math.min(end, now), isOver: end <= now, now }));
  }
  return { account, months };
}

/** The beginning of the UTC month so many months before that of a moment. */
function beginning(ms: number, ago: number): number {
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - ago, 1);
}

/** Sums a month up, and proves that its movements and its receipts lead from its opening to its closing balance. */
async function readMonth(
  storage: Storage,
  accountId: string,
  { from, to, isOver, now }: TimeSpan & { readonly isOver: boolean; readonly now: number },
): Promise<Month> {
  const opening = await readBalance(storage, accountId, from);
  const sums = { topup: 0n, grant: 0n, refund: 0n, lapse: 0n };
  for await (const { kind, amount } of readMovements(storage, accountId, { from, to })) {
    if (kind !== "repayment") {
      sums[kind] += amount; // what a credit gives for what is owed changes no balance
    }
  }
  const models = await readModels(storage, accountId, { from, to });
  const charged = models.reduce((sum, { costPicoUsd }) => sum + BigInt(costPicoUsd), 0n);
  const closing = opening + sums.topup + sums.grant - sums.refund - sums.lapse - charged;
  const owed = await readOwed(storage, accountId, { to, isOver, now, closing });
  if (isOver && closing !== (await readBalance(storage, accountId, to))) {
    throw failure(Reason.LEDGER_UNAVAILABLE, "Charges of this month came meanwhile: ask again.");
  }
  return {
    $typeName: "tollgate.metering.v1.Month",
    month: new Date(from).toISOString().slice(0, 7),
    until: timestampFromMs(to),
    isOver,
    openingPicoUsd: String(opening),
    topupsPicoUsd: String(sums.topup),
    grantsPicoUsd: String(sums.grant),
    refundsPicoUsd: String(sums.refund),
    lapsedPicoUsd: String(sums.lapse),
    chargedPicoUsd: String(charged),
    closingPicoUsd: String(closing),
    owedPicoUsd: String(owed),
    models,
  };
}

/**
 * Gifts of an account that had a credit line: what is owed on it stands beside them, since gifts never pay it. They may have
 * come before it: requests, or another core, held them while the line was drawn.
 */
const giftsBesideLine = `
  select id from lot where account_id = ? and kind in ('free', 'grant') and created_at < ?
    and exists (select 1 from lot line where line.account_id = ? and line.kind = 'credit') limit 1`;

const owedNow = `
  select ${textColumns("owed", "sums")} from (select ${sumColumns("owed", "owed")} from (
    select debt as owed from account where id = ?
    union all select spent - repaid from lot where account_id = ? and ${withCredit}
    union all select slice.spent from slice join lot on lot.id = slice.lot_id
      where slice.account_id = ? and slice.open and lot.kind = 'credit') parts) sums`;

/** What is owed at the end of a month: a balance below zero, or more where gifts stand beside it. */
async function readOwed(
  storage: Storage,
  accountId: string,
  at: { readonly to: number; readonly isOver: boolean; readonly now: number; readonly closing: bigint },
): Promise<bigint> {
  const em = storage.orm.em.fork();
  const gifts = await em.execute<Row[]>(giftsBesideLine, [accountId, new Date(at.to), accountId]);
  if (gifts.length === 0) {
    return at.closing < 0n ? -at.closing : 0n;
  }
  if (!at.isOver) {
    const [sums] = await em.execute<Row[]>(owedNow, [accountId, accountId, accountId]);
    return readSum(sums, "owed");
  }
  const seals = await readSealNumbers(storage);
  const lots = await readLotBalances(storage, accountId, { from: at.to, now: at.now, seals });
  return lots.list().reduce((owed, [, balance]) => (balance < 0n ? owed - balance : owed), 0n);
}

/** The sums of the receipts of a span, dearest first. */
async function readModels(
  storage: Storage,
  accountId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<MonthOfModel[]> {
  const span = { from: timestampFromMs(from), to: timestampFromMs(to) };
  const request = create(StreamUsageRequestSchema, { accountId, ...span, groupBy: [UsageGroup.MODEL], fresh: true });
  const models: MonthOfModel[] = [];
  for await (const { rows } of streamUsage(storage, request)) {
    for (const { model, requests, inputTokens, outputTokens, totalCostPicoUsd } of rows) {
      models.push({
        $typeName: "tollgate.metering.v1.MonthOfModel",
        ...{ model, requests, inputTokens, outputTokens, costPicoUsd: totalCostPicoUsd },
      });
    }
  }
  return models.sort((a, b) => Number(BigInt(b.costPicoUsd) - BigInt(a.costPicoUsd)));
}
