import type { SqlEntityManager } from "@mikro-orm/sql";
import type { BalanceLevel } from "#src/storage/entities/account.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import { freeMoney } from "../model/spending-order.ts";

/** The threshold unless a top-up raises it: a balance below 1 USD is low. */
const usualThreshold = 1_000_000_000_000n;
/**
 * The most lots and leases read for a balance, of each kind: so its cost does not grow with the account's lots, and the
 * sum stays within 64 bits.
 */
const mostParts = 64;

/** The money of an account, as far as charges are stored. */
export interface StoredBalance {
  readonly accountId: string;
  /** The level that events have announced. */
  readonly told: BalanceLevel;
  readonly balance: bigint;
  /** What is left of its credit line. */
  readonly credit: bigint;
  /** False: there is more money, in further lots. */
  readonly isWhole: boolean;
  /** A balance below this is low. */
  readonly threshold: bigint;
}

const lots = (which: string) => `
  select * from (
    select ${freeMoney} as amount, kind from lot
    where account_id = account.id and ${withFreeMoney} and ${which} limit ${mostParts}) found`;

const parts = `
  ${lots("expires_at is null")}
  union all ${lots("expires_at is not null and expires_at > ?")}
  union all select * from (
    select slice.granted - slice.spent as amount, kind from slice join lot on lot.id = slice.lot_id
    where slice.account_id = account.id and slice.open limit ${mostParts}) found`;

const sumOf = (which: string) => `cast(coalesce(sum(case when ${which} then amount else 0 end), 0) as text)`;

/** Reads the balances of accounts, all at one moment. Accounts that do not exist are left out. */
export async function readBalances(
  em: SqlEntityManager,
  accountIds: readonly string[],
  now: Date,
): Promise<StoredBalance[]> {
  if (accountIds.length === 0) {
    return [];
  }
  const rows = await em.execute<Row[]>(
    `select id, balance_told, low_balance, last_paid, (
       select ${sumOf("kind <> 'credit'")} || ' ' || cast(count(*) as text) || ' ' || ${sumOf("kind = 'credit'")}
       from (${parts}) parts) as money
     from account where id in (${accountIds.map(() => "?").join(", ")})`,
    [now, ...accountIds],
  );
  return rows.map((row) => {
    const [sum = "0", count, credit = "0"] = String(row.money).split(" ");
    return {
      accountId: String(row.id),
      told: row.balance_told as BalanceLevel,
      balance: BigInt(sum),
      credit: BigInt(credit),
      isWhole: Number(count) < mostParts,
      threshold: readThreshold(row),
    };
  });
}

/**
 * The account's own threshold; otherwise the larger of 1 USD and a tenth of the last top-up. Before the first one no
 * balance is low: nobody who has just come wants to hear that a gift of cents is little.
 */
function readThreshold({ low_balance: own, last_paid: lastPaid }: Row): bigint {
  if (own !== null && own !== undefined) {
    return BigInt(String(own));
  }
  if (lastPaid === null || lastPaid === undefined) {
    return 0n;
  }
  const tenth = BigInt(String(lastPaid)) / 10n;
  return tenth > usualThreshold ? tenth : usualThreshold;
}
