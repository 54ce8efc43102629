import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";

/** Free money is spent first, then gifts, then paid money, and the credit line last. */
export const priorities = { free: 10, grant: 20, paid: 50, credit: 90 } as const;

/** The kinds of lots: of money that came in, or of the credit line. */
export type LotKind = keyof typeof priorities;

/** Whether an account pays for a kind of money, before or afterwards: an account that has some left is no free one. */
export const isPaidFor = (kind: LotKind): boolean => priorities[kind] >= priorities.paid;

/** The fields of a lot that decide its place in the order of spending. */
export interface SpendingKey {
  readonly priority: number;
  /** Milliseconds since the epoch. Undefined: it never expires. */
  readonly expiresAt: number | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lotId: string;
}

/** Orders lots by priority, then sooner expiry, then earlier arrival. */
export function bySpending(a: SpendingKey, b: SpendingKey): number {
  return (
    a.priority - b.priority ||
    compare(a.expiresAt ?? Number.POSITIVE_INFINITY, b.expiresAt ?? Number.POSITIVE_INFINITY) ||
    a.createdAt - b.createdAt ||
    compare(a.lotId, b.lotId)
  );
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The same order in SQL for both databases. */
export const spendingOrder = "priority, expires_at is null, expires_at, created_at, id";

/** A lot's money that can be leased. */
export const freeMoney = "granted - spent - leased - refunded - expired";

/** Lots that lapse have their own index, because the two databases sort nulls differently. */
const parts = [
  { where: "expires_at is not null", order: "priority, expires_at, created_at, id" },
  { where: "expires_at is null", order: "priority, created_at, id" },
] as const;

const chosen = { paidFor: `priority >= ${priorities.paid}`, paid: `priority = ${priorities.paid}` } as const;

/**
 * The first lots of an account, in the order of spending, that have free money and have not lapsed. The query costs as
 * much as the lots that it returns, however many the account has. Parameters are SQL texts. `which`: only lots that an account
 * pays for, or only paid ones.
 */
export function firstLots(of: {
  account: string;
  now: string;
  limit: string;
  which?: keyof typeof chosen | undefined;
}): string {
  const page = parts.map(
    ({ where, order }) => `
    select * from (
      select * from lot where account_id = ${of.account} and ${withFreeMoney} and ${where}
        ${where === parts[0].where ? `and expires_at > ${of.now}` : ""}
        ${of.which ? `and ${chosen[of.which]}` : ""}
      order by ${order} limit ${of.limit}) part`,
  );
  return `select * from (${page.join(" union all ")}) page order by ${spendingOrder} limit ${of.limit}`;
}
