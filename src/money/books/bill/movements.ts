import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import { readTime } from "#src/storage/reads/read-entity.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { broughtIn } from "../payments/credited.ts";
import type { TimeSpan } from "../proof/scope.ts";
import { streamUsage } from "../receipts/usage.ts";

/** Movements read at once. */
const pageSize = 500;

/** Money that came in, went back or lapsed. */
export interface Movement {
  readonly kind: "topup" | "grant" | "refund" | "lapse";
  readonly at: Date;
  readonly amount: bigint;
  readonly lotId: string;
  /** Empty: it has none. */
  readonly reference: string;
}

const kinds: Readonly<Record<string, Movement["kind"]>> = { paid: "topup", free: "grant", grant: "grant" };

const lapses = "kind = 'expire' and lot_id in (select id from lot where account_id = ?)";

/**
 * The balance at a moment: what came in, less what went back, lapsed and was charged. Debt makes it negative. A lapse
 * counts from when it was written off.
 */
export async function readBalance(storage: Storage, accountId: string, ms: number): Promise<bigint> {
  const at = new Date(ms);
  const [sums] = await storage.orm.em.fork().execute<Row[]>(
    `select ${textColumns("paid", "payments")}, ${textColumns("lapsed", "lapses")}
     from (select ${sumColumns(broughtIn, "paid")} from payment where account_id = ? and at < ?) payments,
       (select ${sumColumns("amount", "lapsed")} from lot_entry where ${lapses} and at < ?) lapses`,
    [accountId, at, accountId, at],
  );
  let balance = readSum(sums, "paid") - readSum(sums, "lapsed");
  const usage = { accountId, to: timestampFromMs(ms), groupBy: [UsageGroup.ACCOUNT], fresh: true };
  for await (const { rows } of streamUsage(storage, create(StreamUsageRequestSchema, usage))) {
    balance -= rows.reduce((sum, row) => sum + BigInt(row.totalCostPicoUsd), 0n);
  }
  return balance;
}

/** The movements of an account's day but for charges, in the order of time. */
export async function* readMovements(
  storage: Storage,
  accountId: string,
  { from, to }: TimeSpan,
): AsyncGenerator<Movement> {
  const movements = `
    select id, kind, amount, lot_id, reference, at from payment where account_id = ? and at >= ? and at < ?
    union all
    select id, 'lapse', amount, lot_id, '', at from lot_entry where ${lapses} and at >= ? and at < ?`;
  const span = [accountId, new Date(from), new Date(to)];
  let after: unknown[] = [new Date(0), "00000000-0000-0000-0000-000000000000"];
  for (;;) {
    const rows = await storage.orm.em
      .fork()
      .execute<Row[]>(
        `select * from (${movements}) movement where (at, id) > (?, ?) order by at, id limit ${pageSize}`,
        [...span, ...span, ...after],
      );
    yield* rows.map(toMovement);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) {
      return;
    }
    after = [readTime(last.at), last.id];
  }
}

const toMovement = (row: Row): Movement => ({
  kind: kinds[String(row.kind)] ?? (row.kind as "refund" | "lapse"),
  at: readTime(row.at),
  amount: BigInt(String(row.amount)),
  lotId: String(row.lot_id),
  reference: String(row.reference),
});
