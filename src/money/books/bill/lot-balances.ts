import { dayMs } from "#lib/time/days.ts";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readKeptFrom } from "../../store/kept-from.ts";
import { linesOfReceipts } from "../proof/scope.ts";

/**
 * What each credit of an account has, in pico-USD: less than nothing for a part of its credit line that is owed. The empty
 * id has what no credit could pay, below zero while it is owed. Together they are the balance.
 */
export class LotBalances {
  readonly #lots = new Map<string, bigint>();
  #sum = 0n;

  add(lotId: string, amount: bigint): void {
    if (amount === 0n) {
      return;
    }
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

/** What the receipts of a sealed day cost each lot. */
const sealedCharges = `
  select slice.lot_id as id, cast(sum(sealed_slice.cost) as text) as amount
  from sealed_slice join slice on slice.id = sealed_slice.slice_id
  where slice.account_id = ? and sealed_slice.seal_id = (select id from day_seal where number = ?)
  group by slice.lot_id`;

/** The receipts of an account on a sealed day, and of all. */
const sealedReceipts = `
  select coalesce(own.receipts, 0) as own, day_seal.receipts as everyone
  from day_seal left join sealed_account own on own.seal_id = day_seal.id and own.account_id = ?
  where day_seal.number = ?`;

/** A seal has a row for each slice that paid on its day, fewer than receipts: it is read for an account with this part of them. */
const sealedPart = 1 / 4;

/** The beginning of a statement, and what tells of the days since then. */
interface Since {
  /** The beginning of a day that is not after `now`, in milliseconds since the epoch. */
  readonly from: number;
  readonly now: number;
  /** The numbers of the seals that have all receipts of their days, by day: of all days whose receipts have left the books. */
  readonly seals: ReadonlyMap<number, number>;
}

/**
 * What each credit had at the beginning of a day: what it has, and what was taken from it since. Receipts are read day by
 * day, so that no snapshot is long. When a charge comes late meanwhile, they are not the balance of that moment.
 */
export async function readLotBalances(
  storage: Storage,
  accountId: string,
  { from, now, seals }: Since,
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
  for (let at = from; at < today; at += dayMs) {
    const number = seals.get(at / dayMs);
    if (number === undefined && at < keptFrom) {
      continue; // a day without receipts
    }
    await using(storage, async (snapshot) => {
      const [sealed] = number === undefined ? [] : await snapshot.few(sealedReceipts, [accountId, number]);
      const [own, everyone] = [Number(sealed?.own), Number(sealed?.everyone)];
      if (at < keptFrom || own > everyone * sealedPart) {
        await add(snapshot, sealedCharges, [accountId, number]);
      } else if (own !== 0) {
        await add(snapshot, chargesOf(storage.dialect, true), [accountId, new Date(at), new Date(at + dayMs)]);
      }
    });
  }
  await using(storage, async (snapshot) => {
    const since = new Date(from);
    const [day, hour] = [from / dayMs, (from / dayMs) * 24];
    await add(snapshot, lotsNow, [accountId, accountId]);
    await add(snapshot, entriesSince, [accountId, since]);
    await add(snapshot, chargesOf(storage.dialect, false), [accountId, new Date(today)]);
    const of = [accountId, day, accountId, hour, accountId, since, accountId, since];
    const [sums] = await snapshot.few(owedBefore, of);
    lots.add("", readSum(sums, "paid") - readSum(sums, "short") - readSum(sums, "unpaid"));
  });
  return lots;
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
