import { timestampMs } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { StreamStatementRequest } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { formatUsd } from "#lib/money/money.ts";
import { dayMs, dayName } from "#lib/time/days.ts";
import { Account } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { TimeSpan } from "../proof/scope.ts";
import type { ArchivedReceipts } from "../receipts/archived-receipts.ts";
import { placeOf } from "../receipts/archived-receipts.ts";
import { readCharges } from "./charges.ts";
import { type DayProofs, readSealNumbers } from "./day-proofs.ts";
import { chargeLine, movementLine, sealLine } from "./lines.ts";
import { type LotBalances, readLotBalances } from "./lot-balances.ts";
import { lotLines, type ReadTerms, withTerms } from "./lot-lines.ts";
import { readLotTerms, readModels, type TermedMovement } from "./lot-terms.ts";
import { readBalance, readEnd, readMovements } from "./movements.ts";

/** A piece of the answer ends with so many lines, or so many characters: lines of many credits are long. */
const pieceSize = 100;
const pieceLength = 65_536;

export interface Dependencies {
  readonly storage: Storage;
  readonly archives: Pick<ArchivedReceipts, "listOldestFirst">;
  readonly proofs: Pick<DayProofs, "prove">;
  readonly now: number;
}

/** An account's statement of whole days, piece by piece. Throws INVALID_ARGUMENT and ACCOUNT_NOT_FOUND. */
export async function* streamStatement(
  parts: Dependencies,
  request: Pick<StreamStatementRequest, "accountId" | "from" | "to">,
): AsyncGenerator<string[]> {
  let piece: string[] = [];
  let length = 0;
  for await (const line of statementLines(parts, request)) {
    piece.push(line);
    length += line.length;
    if (piece.length === pieceSize || length >= pieceLength) {
      yield piece;
      piece = [];
      length = 0;
    }
  }
  yield piece;
}

async function* statementLines(
  parts: Dependencies,
  { accountId, ...span }: Pick<StreamStatementRequest, "accountId" | "from" | "to">,
): AsyncGenerator<string> {
  const { storage, proofs, now } = parts;
  const today = Math.floor(now / dayMs);
  const { first, end } = readDays(span, today);
  const account = isUuid(accountId) ? await storage.orm.em.fork().findOne(Account, accountId) : null;
  if (account === null) {
    throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
  }
  const created = Math.floor(account.createdAt.getTime() / dayMs); // before it there was nothing
  const begin = Math.min(Math.max(first, created), today);
  const from = begin * dayMs;
  const until = end > today ? Math.min(end * dayMs, await readEnd(storage, accountId, now)) : end * dayMs;
  const seals = await readSealNumbers(storage);
  const lots = await readLotBalances(storage, accountId, { from, now, seals });
  await demandBalance(storage, accountId, from, lots.sum);
  const models = await readModels(storage, accountId, { from: first * dayMs, to: end * dayMs });
  const readTerms = (ids: readonly string[]) => readLotTerms(storage, ids, models);
  yield JSON.stringify({ kind: "account", account_id: accountId, from: dayName(first), to: dayName(end) });
  yield* lotLines(lots, readTerms, ({ isFirst, lots: count }) =>
    isFirst ? { kind: "opening", balance: formatUsd(lots.sum), lot_count: count } : { kind: "lots" },
  );
  for (let day = begin; day < end; day++) {
    const times = { from: day * dayMs, to: Math.min((day + 1) * dayMs, until) };
    yield* movedLines(parts, { accountId, times, readTerms }, lots);
    const number = seals.get(day);
    if (number !== undefined) {
      yield sealLine(day, await proofs.prove(number, accountId));
    }
  }
  if (end <= today) {
    await demandBalance(storage, accountId, until, lots.sum); // what comes today meanwhile is of the next statement
  }
  yield* lotLines(lots, readTerms, ({ isLast }) =>
    isLast ? { kind: "closing", at: new Date(until).toISOString(), balance: formatUsd(lots.sum) } : { kind: "lots" },
  );
}

/** The movements and charges of a day, which change what the lots have. */
async function* movedLines(
  { storage, archives }: Dependencies,
  { accountId, times, readTerms }: { accountId: string; times: TimeSpan; readTerms: ReadTerms },
  lots: LotBalances,
): AsyncGenerator<string> {
  const movements = withTerms(readMovements(storage, accountId, times), readTerms);
  for await (const moved of inOrder(movements, readCharges(storage, archives, accountId, times))) {
    if ("kind" in moved) {
      for (const { lotId, amount } of moved.changes) {
        lots.add(lotId, amount);
      }
      yield movementLine(moved, lots.sum);
    } else {
      takeCharge(lots, moved);
      yield chargeLine(moved, lots.sum);
    }
  }
}

/** Takes from each lot what it paid of a charge. What none could pay is owed. */
function takeCharge(lots: LotBalances, { lines, shortfallPicoUsd }: Receipt): void {
  for (const { lotId, costPicoUsd } of lines) {
    if (lotId !== "") {
      lots.add(lotId, -costPicoUsd);
    }
  }
  lots.add("", -shortfallPicoUsd);
}

/** The first day, and the day after the last one. Throws INVALID_ARGUMENT. */
function readDays(span: Pick<StreamStatementRequest, "from" | "to">, today: number) {
  const [first, end] = [readDay("from", span.from), Math.min(readDay("to", span.to), today + 1)];
  if (first < end) {
    return { first, end };
  }
  throw failure(Reason.INVALID_ARGUMENT, "A statement begins before it ends, and not after today.", {
    parameter: "to",
  });
}

/** Throws LEDGER_UNAVAILABLE unless the books have this balance at a moment. */
async function demandBalance(storage: Storage, accountId: string, ms: number, balance: bigint): Promise<void> {
  if (balance !== (await readBalance(storage, accountId, ms))) {
    throw failure(Reason.LEDGER_UNAVAILABLE, "Charges of these days came, or left the books, meanwhile: ask again.");
  }
}

function readDay(parameter: "from" | "to", time: StreamStatementRequest["from"]): number {
  const ms = time === undefined ? Number.NaN : timestampMs(time);
  if (!(ms % dayMs === 0 && ms >= 0)) {
    throw failure(Reason.INVALID_ARGUMENT, `A statement is of whole UTC days: ${parameter} is not one.`, { parameter });
  }
  return ms / dayMs;
}

/** Merges movements with charges, by time. */
async function* inOrder(
  movements: AsyncGenerator<TermedMovement>,
  charges: AsyncGenerator<Receipt>,
): AsyncGenerator<TermedMovement | Receipt> {
  let movement = await movements.next();
  for await (const charge of charges) {
    const { settledMs } = placeOf(charge);
    while (!movement.done && movement.value.at.getTime() <= settledMs) {
      yield movement.value;
      movement = await movements.next();
    }
    yield charge;
  }
  if (!movement.done) {
    yield movement.value;
    yield* movements;
  }
}
