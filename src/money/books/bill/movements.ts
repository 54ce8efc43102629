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

/** A change of what one lot has. An empty lot is what no credit could pay. */
export interface LotChange {
  readonly lotId: string;
  readonly amount: bigint;
}

/** Money that came in, went back or lapsed, or that one lot gave for what is owed. */
export interface Movement {
  readonly kind: "topup" | "grant" | "refund" | "lapse" | "repayment";
  readonly at: Date;
  readonly amount: bigint;
  /** Of a refund, the newest lot that it took from. */
  readonly lotId: string;
  /** Empty: it has none. */
  readonly reference: string;
  /** What it does to each lot. */
  readonly changes: readonly LotChange[];
}

const kinds: Readonly<Record<string, Movement["kind"]>> = {
  ...{ paid: "topup", free: "grant", grant: "grant", refund: "refund", expire: "lapse" },
  ...{ debt: "repayment", repaid: "repayment" },
};

const ofAccount = "lot_id in (select id from lot where account_id = ?)";
const lapses = `kind = 'expire' and ${ofAccount}`;

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

/**
 * Payments, lapses and repayments of an account. At one time money comes in first, then credits pay what no credit could
 * pay, then what they paid of it beyond that goes to the credit line.
 */
const movementsWithin = `
  select id, kind, amount, lot_id, reference, at, owed, 0 as rank from payment
  where account_id = ? and at >= ? and at < ?
  union all
  select id, kind, amount, lot_id, '', at, 0, case kind when 'expire' then 0 when 'debt' then 1 else 2 end from lot_entry
  where kind in ('expire', 'debt', 'repaid') and ${ofAccount} and at >= ? and at < ?`;

/** The movements of an account's day but for charges, in the order of time. */
export async function* readMovements(
  storage: Storage,
  accountId: string,
  { from, to }: TimeSpan,
): AsyncGenerator<Movement> {
  const span = [accountId, new Date(from), new Date(to)];
  let after: unknown[] = [new Date(0), 0, "00000000-0000-0000-0000-000000000000"];
  for (;;) {
    const rows = await storage.orm.em
      .fork()
      .execute<Row[]>(
        `select * from (${movementsWithin}) movement where (at, rank, id) > (?, ?, ?) order by at, rank, id limit ${pageSize}`,
        [...span, ...span, ...after],
      );
    const refunds = rows.filter(({ kind }) => kind === "refund").map(({ id }) => String(id));
    const taken = await readRefunds(storage, accountId, refunds);
    yield* rows.map((row) => toMovement(row, taken.get(String(row.id)) ?? []));
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) {
      return;
    }
    after = [readTime(last.at), last.rank, last.id];
  }
}

/**
 * The end of what an account's books have by now, in milliseconds since the epoch: the clocks of those who charge may be
 * ahead of this one.
 */
export async function readEnd(storage: Storage, accountId: string, now: number): Promise<number> {
  const since = new Date(now);
  const rows = await storage.orm.em.fork().execute<Row[]>(
    `select max(settled_at) as at from usage where account_id = ? and settled_at >= ?
     union all select max(at) from payment where account_id = ? and at >= ?`,
    [accountId, since, accountId, since],
  );
  return Math.max(Math.floor(now), ...rows.map(({ at }) => (at == null ? 0 : readTime(at).getTime()))) + 1;
}

/** What refunds took from each lot, by the id of the refund, newest lot first. */
async function readRefunds(
  storage: Storage,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly LotChange[]>> {
  if (ids.length === 0) {
    return new Map();
  }
  const rows = await storage.orm.em.fork().execute<Row[]>(
    `select payment_id, lot_id, amount from lot_entry
     where kind = 'refund' and ${ofAccount} and payment_id in (${ids.map(() => "?").join()}) order by id`,
    [accountId, ...ids],
  );
  const parts = Map.groupBy(rows, ({ payment_id: id }) => String(id));
  return new Map(
    [...parts].map(([id, of]) => [
      id,
      of.map((row) => ({ lotId: String(row.lot_id), amount: -BigInt(String(row.amount)) })),
    ]),
  );
}

/** `taken`: what a refund took from lots. */
function toMovement(row: Row, taken: readonly LotChange[]): Movement {
  const [amount, owed] = [BigInt(String(row.amount)), BigInt(String(row.owed))];
  const lotId = String(row.lot_id);
  const kind = kinds[String(row.kind)] as Movement["kind"];
  const changes = (): readonly LotChange[] => {
    switch (row.kind) {
      case "refund":
        return owed === 0n ? taken : [...taken, { lotId: "", amount: -owed }];
      case "expire":
        return [{ lotId, amount: -amount }];
      case "debt":
        return [
          { lotId, amount: -amount },
          { lotId: "", amount },
        ];
      case "repaid":
        return [
          { lotId: "", amount: -amount },
          { lotId, amount },
        ];
      default:
        return [{ lotId, amount }];
    }
  };
  return { kind, at: readTime(row.at), amount, lotId, reference: String(row.reference), changes: changes() };
}
