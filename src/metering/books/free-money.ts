import type { SqlEntityManager } from "@mikro-orm/sql";
import { withFreeMoney } from "../../storage/entities/metering/lot.ts";
import { readSum, sumColumns, textColumns } from "../../storage/exact-sum.ts";
import type { Row } from "../../storage/snapshot.ts";
import { freeMoney, priorities } from "../store/spending-order.ts";

/**
 * An account's money that nobody has leased and that has not lapsed; of the paid lots alone when asked. Read from the
 * indexes of such lots, so those that are spent cost nothing.
 */
export async function sumFreeMoney(em: SqlEntityManager, accountId: string, now: Date, only?: "paid"): Promise<bigint> {
  const lots = (which: string) => `
    select ${freeMoney} as free from lot
    where account_id = ? and ${withFreeMoney} and ${which} ${only === undefined ? "" : `and priority = ${priorities[only]}`}`;
  const [sums] = await em.execute<Row[]>(
    `select ${textColumns("free", "sums")} from (
       select ${sumColumns("free", "free")} from (
         ${lots("expires_at is null")} union all ${lots("expires_at is not null and expires_at > ?")}) lots) sums`,
    [accountId, accountId, now],
  );
  return readSum(sums, "free");
}
