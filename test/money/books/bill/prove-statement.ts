import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect } from "@jest/globals";
import { StreamStatementRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { StatementCheck } from "#src/money/books/bill/check/check-statement.ts";
import { DayProofs } from "#src/money/books/bill/day-proofs.ts";
import { streamStatement } from "#src/money/books/bill/stream-statement.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import type { Storage } from "#src/storage/storage.ts";
import { noArchives } from "../../no-archives.ts";

/** The lines of an account's statement of a span, in milliseconds since the epoch, which prove. */
export async function proveStatement(
  storage: Storage,
  accountId: string,
  {
    from,
    to,
    now,
    archives = noArchives,
  }: {
    readonly from: number;
    readonly to: number;
    readonly now: number;
    readonly archives?: Pick<ArchivedReceipts, "listOldestFirst">;
  },
): Promise<string[]> {
  const asked = { accountId, from: timestampFromMs(from), to: timestampFromMs(to) };
  const lines: string[] = [];
  const check = new StatementCheck();
  const parts = { storage, archives, proofs: new DayProofs(storage), now };
  for await (const piece of streamStatement(parts, create(StreamStatementRequestSchema, asked))) {
    for (const line of piece) {
      lines.push(line);
      check.add(line);
    }
  }
  check.finish();
  return lines;
}

/** What each credit has by a line of a statement, by its id; and what is owed. */
export function lotsOf(line: string | undefined): Record<string, string> {
  const { lots } = JSON.parse(line ?? "{}") as { lots: { lot: string; balance: string }[] };
  return Object.fromEntries(lots.map(({ lot, balance }) => [lot, balance]));
}

/** Expects that the last line of a statement tells of each lot of the account what the books have now. */
export async function expectBooks(storage: Storage, accountId: string, closing: string | undefined): Promise<void> {
  const em = storage.orm.em.fork();
  const slices = await em.find(Slice, { accountId, open: true });
  const { debt } = await em.findOneOrFail(Account, accountId);
  const has = (await em.find(Lot, { accountId })).map((lot) => {
    const spent = slices.reduce((sum, slice) => sum + (slice.lotId === lot.id ? slice.spent : 0), lot.spent);
    const left = lot.kind === "credit" ? lot.repaid : lot.granted - lot.refunded - lot.expired;
    return [lot.id, BigInt(left - spent)] as const;
  });
  const all = [...has, ["", -debt] as const].filter(([, balance]) => balance !== 0n);
  expect(lotsOf(closing)).toEqual(Object.fromEntries(all.map(([id, balance]) => [id, formatUsd(balance)])));
}
