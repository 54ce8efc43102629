import { timestampMs } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { StreamStatementRequest } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { formatUsd } from "#lib/money/money.ts";
import { Account } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";
import { dayMs } from "../../store/kept-from.ts";
import type { ArchivedReceipts } from "../receipts/archived-receipts.ts";
import { placeOf } from "../receipts/archived-receipts.ts";
import { readCharges } from "./charges.ts";
import { type DayProofs, readSealNumbers } from "./day-proofs.ts";
import { chargeLine, dayName, movementLine, sealLine } from "./lines.ts";
import { type Movement, readBalance, readMovements } from "./movements.ts";

/** Lines of a piece of the answer. */
const pieceSize = 100;

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
  for await (const line of statementLines(parts, request)) {
    piece.push(line);
    if (piece.length === pieceSize) {
      yield piece;
      piece = [];
    }
  }
  yield piece;
}

async function* statementLines(
  { storage, archives, proofs, now }: Dependencies,
  { accountId, ...span }: Pick<StreamStatementRequest, "accountId" | "from" | "to">,
): AsyncGenerator<string> {
  const today = Math.floor(now / dayMs);
  const [first, end] = [readDay("from", span.from), Math.min(readDay("to", span.to), today + 1)];
  if (first >= end) {
    throw failure(Reason.INVALID_ARGUMENT, "A statement begins before it ends, and not after today.", {
      parameter: "to",
    });
  }
  const account = isUuid(accountId) ? await storage.orm.em.fork().findOne(Account, accountId) : null;
  if (account === null) {
    throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
  }
  const opened = await readBalance(storage, accountId, first * dayMs);
  yield JSON.stringify({ kind: "account", account_id: accountId, from: dayName(first), to: dayName(end) });
  yield JSON.stringify({ kind: "opening", balance: formatUsd(opened) });
  const seals = await readSealNumbers(storage);
  let balance = opened;
  for (let day = Math.max(first, Math.floor(account.createdAt.getTime() / dayMs)); day < end; day++) {
    const times = { from: day * dayMs, to: (day + 1) * dayMs };
    const charges = readCharges(storage, archives, accountId, times);
    for await (const moved of inOrder(readMovements(storage, accountId, times), charges)) {
      balance += "kind" in moved ? change(moved) : -moved.costPicoUsd;
      yield "kind" in moved ? movementLine(moved, balance) : chargeLine(moved, balance);
    }
    const number = seals.get(day);
    if (number !== undefined) {
      yield sealLine(day, await proofs.prove(number, accountId));
    }
  }
  if (end <= today) {
    await demandBalance(storage, accountId, end, balance); // what comes today meanwhile is of the next statement
  }
  yield JSON.stringify({ kind: "closing", balance: formatUsd(balance) });
}

/** Throws LEDGER_UNAVAILABLE unless the books have this balance at the beginning of a day. */
async function demandBalance(storage: Storage, accountId: string, day: number, balance: bigint): Promise<void> {
  if (balance !== (await readBalance(storage, accountId, day * dayMs))) {
    throw failure(Reason.LEDGER_UNAVAILABLE, "Charges of these days came, or left the books, meanwhile: ask again.");
  }
}

const change = ({ kind, amount }: Movement): bigint => (kind === "topup" || kind === "grant" ? amount : -amount);

function readDay(parameter: "from" | "to", time: StreamStatementRequest["from"]): number {
  const ms = time === undefined ? Number.NaN : timestampMs(time);
  if (!(ms % dayMs === 0 && ms >= 0)) {
    throw failure(Reason.INVALID_ARGUMENT, `A statement is of whole UTC days: ${parameter} is not one.`, { parameter });
  }
  return ms / dayMs;
}

/** Merges what came in, went back or lapsed with charges, by time. */
async function* inOrder(
  movements: AsyncGenerator<Movement>,
  charges: AsyncGenerator<Receipt>,
): AsyncGenerator<Movement | Receipt> {
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
