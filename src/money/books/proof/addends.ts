import { BooksSum } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { PageStart } from "#lib/rpc/pages.ts";
import { withCredit } from "#src/storage/entities/metering/lot-conditions.ts";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { noId } from "../../model/store/wallet.ts";

/** The part that one account has in a sum of the proof. */
export interface Addend {
  readonly accountId: string;
  /** The operator's label. Empty: none. */
  readonly accountName: string;
  /** In pico-USD. */
  readonly amount: bigint;
}

/** Each account's part above zero, ordered by account id. Parameters: the account before the page, the most rows. */
const parts = (table: string, column: string, which: string) => `
  select account_id, ${sumColumns(column, "amount")} from ${table}
  where account_id > ? and ${which} group by account_id order by account_id limit ?`;

/** The sums whose addends nothing else lists: accounts list their balances, and usage lists what was spent. */
const sources: Partial<Record<BooksSum, string>> = {
  [BooksSum.GRANTED]: parts("payment", "amount", "kind <> 'refund'"),
  [BooksSum.REFUNDED]: parts("payment", "amount", "kind = 'refund'"),
  [BooksSum.EXPIRED]: parts("lot", "expired", "expired > 0"),
  [BooksSum.DEBT]: `
    select account_id, ${sumColumns("owed", "amount")} from (
      select id as account_id, debt as owed from account where debt > 0
      union all select account_id, spent - repaid from lot where ${withCredit}
      union all select slice.account_id, slice.spent from slice join lot on lot.id = slice.lot_id
        where slice.open and lot.kind = 'credit') owing
    where account_id > ? and owed <> 0 group by account_id order by account_id limit ?`,
};

/** Whether the addends of a sum can be listed. */
export function hasAddends(sum: BooksSum): boolean {
  return sources[sum] !== undefined;
}

/** The accounts' parts of a sum, from the tables that `reconcile` sums up. */
export async function readAddends(storage: Storage, sum: BooksSum, { after, limit }: PageStart): Promise<Addend[]> {
  const rows = await storage.orm.em.fork().execute<Row[]>(
    `select account.id, account.name, ${textColumns("amount", "part")}
     from (${sources[sum]}) part join account on account.id = part.account_id order by account.id`,
    [after ?? noId, limit],
  );
  return rows.map((row) => ({
    accountId: String(row.id),
    accountName: String(row.name ?? ""),
    amount: readSum(row, "amount"),
  }));
}
