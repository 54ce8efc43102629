import type { SqlEntityManager } from "@mikro-orm/sql";
import { withFreeMoney } from "../../storage/entities/lot.ts";
import { freeMoney, priorities } from "../store/spending-order.ts";

/** What a sum is cut into: that of many amounts may pass the 64 bits of SQLite. */
const part = 1_000_000;

/**
 * An account's money that nobody has leased and that has not lapsed; of the paid lots alone when asked. Read from the
 * indexes of such lots, so those that are spent cost nothing.
 */
export async function sumFreeMoney(em: SqlEntityManager, accountId: string, now: Date, only?: "paid"): Promise<bigint> {
  const lots = (which: string) => `
    select ${freeMoney} as free from lot
    where account_id = ? and ${withFreeMoney} and ${which} ${only === undefined ? "" : `and priority = ${priorities[only]}`}`;
  const [sums] = await em.execute<{ high: string | null; low: string | null }[]>(
    `select cast(sum(free / ${part}) as text) as high, cast(sum(free % ${part}) as text) as low from (
       ${lots("expires_at is null")} union all ${lots("expires_at is not null and expires_at > ?")}) lots`,
    [accountId, accountId, now],
  );
  return BigInt(sums?.high ?? 0) * BigInt(part) + BigInt(sums?.low ?? 0);
}
