import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { freeMoney } from "../../model/spending-order.ts";

/** The money that a payment brought in: negative for a refund. */
export const broughtIn = "case kind when 'refund' then -amount else amount end";
/** The part of a lot that has lapsed, including what nobody has written off yet, without what is leased. */
const lapsedOf = `expired + case when expires_at <= ? then ${freeMoney} else 0 end`;

/** The money that came into an account, less refunds and what has lapsed by then. */
export async function readCredited(storage: Storage, accountId: string, now: number): Promise<bigint> {
  const [sums] = await storage.orm.em.fork().execute<Row[]>(
    `select ${textColumns("paid", "payments")}, ${textColumns("lapsed", "lots")}
     from (select ${sumColumns(broughtIn, "paid")} from payment where account_id = ?) payments,
       (select ${sumColumns("part", "lapsed")} from (
          select ${lapsedOf} as part from lot where account_id = ?) parts) lots`,
    [accountId, new Date(now), accountId],
  );
  return readSum(sums, "paid") - readSum(sums, "lapsed");
}
