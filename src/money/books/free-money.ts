import type { SqlEntityManager } from "@mikro-orm/sql";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import { freeMoney, priorities } from "../model/spending-order.ts";

/** Money that no core has leased and that has not lapsed, the paid part of it, and the rest of the credit line. */
export interface FreeMoney {
  readonly all: bigint;
  readonly paid: bigint;
  readonly credit: bigint;
}

/**
 * Selects lots with free money in two reads: lots that never lapse, and lots that have not lapsed yet. Each read uses
 * an index of lots with free money, so spent lots cost nothing. Parameters: the accounts, the accounts again, the time.
 */
function freeLots(accounts: string, which = ""): string {
  const lots = (lapse: string) => `
    select account_id, priority, ${freeMoney} as free from lot
    where ${accounts} and ${withFreeMoney} and ${lapse} ${which}`;
  return `${lots("expires_at is null")} union all ${lots("expires_at is not null and expires_at > ?")}`;
}

const ofCredit = `priority = ${priorities.credit}`;
const ofPaid = `priority = ${priorities.paid}`;

/** The free money of an account's paid lots. */
export async function sumFreePaidMoney(em: SqlEntityManager, accountId: string, now: Date): Promise<bigint> {
  const [sums] = await em.execute<Row[]>(
    `select ${textColumns("free", "sums")} from (
       select ${sumColumns("free", "free")} from (${freeLots("account_id = ?", `and ${ofPaid}`)}) lots) sums`,
    [accountId, accountId, now],
  );
  return readSum(sums, "free");
}

/** The free money of accounts; accounts that have none are absent. */
export async function sumFreeMoney(
  em: SqlEntityManager,
  accountIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, FreeMoney>> {
  const sums = await em.execute<Row[]>(
    `select account_id, ${textColumns("free", "sums")}, ${textColumns("paid", "sums")}, ${textColumns("credit", "sums")} from (
       select account_id, ${sumColumns(`case when ${ofCredit} then 0 else free end`, "free")},
         ${sumColumns(`case when ${ofPaid} then free else 0 end`, "paid")},
         ${sumColumns(`case when ${ofCredit} then free else 0 end`, "credit")}
       from (${freeLots(`account_id in (${accountIds.map(() => "?").join()})`)}) lots group by account_id) sums`,
    [...accountIds, ...accountIds, now],
  );
  return new Map(
    sums.map((row) => [
      String(row.account_id),
      { all: readSum(row, "free"), paid: readSum(row, "paid"), credit: readSum(row, "credit") },
    ]),
  );
}
