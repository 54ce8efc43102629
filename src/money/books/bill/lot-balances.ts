import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row, Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { dayMs, readKeptFrom } from "../../store/kept-from.ts";
import { linesOfReceipts, type TimeSpan } from "../proof/scope.ts";

/**
 * What each credit of an account has, in pico-USD: less than nothing for a part of its credit line that is owed. The empty
 * id has what no credit could pay, below zero while it is owed. Together they are the balance.
 */
export class LotBalances {
  readonly #lots = new Map<string, bigint>();
  #sum = 0n;

  add(lotId: string, amount: bigint): void {
    this.#sum += amount;
    const balance = (this.#lots.get(lotId) ?? 0n) + amount;
    if (balance === 0n) {
      this.#lots.delete(lotId); // so that spent credits take no memory, however many there are
    } else {
      this.#lots.set(lotId, balance);
    }
  }

  get sum(): bigint {
    return this.#sum;
  }

  /** The lots with money, or that are owed, and what that is, ordered by id: what came in first comes first. */
  list(): readonly (readonly [string, bigint])[] {
    return [...this.#lots].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** What lots have now, without what open slices have spent. Of a credit lot it is what is owed, below zero. */
const lotsNow = `
  select id, cast(amount as text) as amount from (
    select lot.id, case when kind = 'credit' then repaid - spent else granted - spent - refunded - expired end
      - coalesce(lent.amount, 0) as amount
    from lot left join (select lot_id, sum(spent) as amount from slice where open and account_id = ? group by lot_id) lent
      on lent.lot_id = lot.id
    where account_id = ?) lots
  where amount <> 0`;

/**
 * What entries have taken from lots since a time, less what they have brought. A refund counts when it was made, and a line
 * that is granted or taken back is no money.
 */
const entriesSince = `
  select lot.id, cast(sum(case when lot_entry.kind in ('grant', 'repaid') then -lot_entry.amount else lot_entry.amount end) as text) as amount
  from lot join lot_entry on lot_entry.lot_id = lot.id left join payment on payment.id = lot_entry.payment_id
  where lot.account_id = ? and coalesce(payment.at, lot_entry.at) >= ? and (lot.kind <> 'credit' or lot_entry.kind in ('debt', 'repaid'))
  group by lot.id`;

/** What was owed before a day beside the credit line: what charges and refunds fell short of, and no lot had paid. */
const owedBefore = `
  select ${["short", "unpaid", "paid"].map((name) => textColumns("owed", name).replaceAll("as owed", `as ${name}`)).join(", ")}
  from (select ${sumColumns("shortfall", "owed")} from (
      select shortfall from usage_rollup where account_id = ? and span = 'day' and slot < ?
      union all select shortfall from usage_tally where account_id = ? and hour < ?) counted) short,
    (select ${sumColumns("owed", "owed")} from payment where account_id = ? and at < ?) unpaid,
    (select ${sumColumns("case lot_entry.kind when 'debt' then lot_entry.amount else -lot_entry.amount end", "owed")}
      from lot join lot_entry on lot_entry.lot_id = lot.id
      where lot.account_id = ? and lot_entry.kind in ('debt', 'repaid') and lot_entry.at < ?) paid`;

/** What receipts of a span cost each lot. Without an end, all since its beginning. */
const chargesOf = (dialect: Storage["dialect"], hasEnd: boolean): string => `
  with receipt as materialized (
    select request_id, run_id from usage where account_id = ? and settled_at >= ?${hasEnd ? " and settled_at < ?" : ""})
  select lot_id as id, cast(sum(cost) as text) as amount from (${linesOfReceipts[dialect]}) line group by lot_id`;

/** What the receipts of a day that have left the books cost each lot: its seal has it. */
const sealedCharges = `
  select slice.lot_id as id, cast(sum(sealed_slice.cost) as text) as amount
  from sealed_slice join slice on slice.id = sealed_slice.slice_id
  where slice.account_id = ? and sealed_slice.seal_id = (select id from day_seal where day = ? order by number desc limit 1)
  group by slice.lot_id`;

/**
 * What each credit had at the beginning of a day that is not after `now`, in milliseconds since the epoch: what it has, and
 * what was taken from it since. Receipts are read day by day, so that no snapshot is long; of a charge that comes late
 * meanwhile the sum is wrong.
 */
export async function readLotBalances(
  storage: Storage,
  accountId: string,
  { from, now }: { readonly from: number; readonly now: number },
): Promise<LotBalances> {
  const lots = new LotBalances();
  const keptFrom = await readKeptFrom(storage);
  const today = now - (now % dayMs);
  const add = async (snapshot: Snapshot, sql: string, parameters: readonly unknown[]) => {
    for await (const rows of snapshot.rows(sql, parameters)) {
      for (const { id, amount } of rows) {
        lots.add(String(id), BigInt(String(amount)));
      }
    }
  };
  for (const day of await findArchived(storage, accountId, { from, to: Math.min(keptFrom, today) })) {
    await using(storage, (snapshot) => add(snapshot, sealedCharges, [accountId, day]));
  }
  for (let at = Math.max(from, keptFrom); at < today; at += dayMs) {
    const span = [accountId, new Date(at), new Date(at + dayMs)];
    await using(storage, (snapshot) => add(snapshot, chargesOf(storage.dialect, true), span));
  }
  await using(storage, async (snapshot) => {
    const since = new Date(from);
    const [day, hour] = [from / dayMs, (from / dayMs) * 24];
    await add(snapshot, lotsNow, [accountId, accountId]);
    await add(snapshot, entriesSince, [accountId, since]);
    await add(snapshot, chargesOf(storage.dialect, false), [accountId, new Date(Math.max(keptFrom, today))]);
    const of = [accountId, day, accountId, hour, accountId, since, accountId, since];
    const [sums] = await snapshot.few(owedBefore, of);
    lots.add("", readSum(sums, "paid") - readSum(sums, "short") - readSum(sums, "unpaid"));
  });
  return lots;
}

/** The archived days of a span on which the account was charged. */
async function findArchived(storage: Storage, accountId: string, { from, to }: TimeSpan): Promise<number[]> {
  const sql = "select distinct slot from usage_rollup where account_id = ? and span = 'day' and slot >= ? and slot < ?";
  const slots = await storage.orm.em.fork().execute<Row[]>(sql, [accountId, from / dayMs, to / dayMs]);
  return slots.map(({ slot }) => Number(slot));
}

/** Reads from a snapshot of its own. */
async function using(storage: Storage, read: (snapshot: Snapshot) => Promise<void>): Promise<void> {
  const snapshot = await storage.snapshot();
  try {
    await read(snapshot);
  } finally {
    await snapshot.close();
  }
}
