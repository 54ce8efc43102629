import { bySpending, priorities, type SpendingKey } from "#src/money/model/spending-order.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import { countEpoch } from "./own-epoch.ts";
import type { Meaning, Tables } from "./statement.ts";

// Implements the statements about lots, like src/money/store/postgresql/wallet/leases.ts.

interface LotRow {
  readonly id: string;
  readonly kind: string;
  readonly priority: number;
  readonly price_version_id: number;
  readonly own_prices_id: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly account_id: string;
  readonly available: number;
}

const lotsOf = `
  select id, kind, priority, price_version_id, own_prices_id, created_at, expires_at, account_id,
    granted - spent - leased - refunded - expired as available
  from lot where account_id = ?1 and ${withFreeMoney}`;
/**
 * ?1: the account; ?2: now. Both halves are in the order of an index. The limit is not a parameter, because SQLite
 * prepares a statement again for each limit that it is given.
 */
const page = (more: string, limit: number) => `
  select * from (${lotsOf} ${more} and expires_at is not null and expires_at > ?2
    order by priority, expires_at, created_at, id limit ${limit})
  union all select * from (${lotsOf} ${more} and expires_at is null order by priority, created_at, id limit ${limit})`;
const which = { all: "", paidFor: `and priority >= ${priorities.paid}` } as const;

const toKey = ({ priority, expires_at, created_at, id }: LotRow): SpendingKey => ({
  ...{ priority, expiresAt: expires_at ?? undefined, createdAt: created_at, lotId: id },
});

/** The first lots of an account in spending order that have unleased money and have not expired. */
function firstLots(
  tables: Tables,
  account: string,
  now: number,
  limit: number,
  of: keyof typeof which,
): readonly LotRow[] {
  // The statements of one lease ask for the same repeatedly.
  return tables.keep(`${of} ${account} ${now} ${limit}`, () => {
    const lots = tables.all<LotRow>(page(which[of], limit), account, now);
    return lots.length < 2 ? lots : lots.sort((a, b) => bySpending(toKey(a), toKey(b))).slice(0, limit);
  });
}

const toTime = (at: unknown) => (at as Date).getTime();
const sum = (lots: readonly LotRow[]) => lots.reduce((all, { available }) => all + BigInt(available), 0n);
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * ?1: the account; ?2: the core; ?3: the epoch. What other cores have leased, and what all cores have leased of paid
 * money. Sums are texts, since they may be large.
 */
const leasedOf = `
  select (select cast(coalesce(sum(granted - spent), 0) as text) from slice indexed by simulated_account_slices
      where account_id = ?1 and open and (core_id <> ?2 or epoch <> ?3)) as elsewhere,
    (select cast(coalesce(sum(slice.granted - slice.spent), 0) as text)
      from lot indexed by simulated_lot_kinds cross join slice on slice.lot_id = lot.id and open
      where lot.account_id = ?1 and kind in ('paid', 'credit')) as paid,
    (select group_concat(distinct lot.id) from lot indexed by simulated_lot_kinds cross join slice
        on slice.lot_id = lot.id and open
      where lot.account_id = ?1 and kind = 'credit' and expires_at is not null) as retired`;

export const lotStatements: Readonly<Record<string, Meaning>> = {
  "lock lots"(tables, [accounts, now, lots, core, epoch]) {
    const own = countEpoch(tables, core, epoch);
    return (accounts as string[])
      .flatMap((account) => firstLots(tables, account, toTime(now), Number(lots), "all"))
      .map(({ id }) => ({ id, own }))
      .sort((a, b) => byText(a.id, b.id));
  },

  lease(tables, [accounts, leasts, mosts, ids, perAccount, cores, now, core, epoch, locked]) {
    const lockedIds = new Set(locked as string[]);
    const leased: { readonly account_id: string }[] = [];
    for (const [at, account] of (accounts as string[]).entries()) {
      const [least, most] = [Number((leasts as number[])[at]), Number((mosts as number[])[at])];
      const page = lockedIds.size === 0 ? [] : firstLots(tables, account, toTime(now), Number(perAccount), "all");
      const lots = page.filter(({ id }) => lockedIds.has(id));
      const all = lots.reduce((free, { available }) => free + available, 0);
      const target = Math.max(least, Math.min(most, Math.floor(all / (2 * Number(cores)))));
      let before = 0;
      for (const [place, { available, ...lot }] of lots.entries()) {
        const amount = Math.min(available, target - before);
        before += available;
        if (amount <= 0) {
          continue;
        }
        const id = (ids as string[])[at * Number(perAccount) + place] as string;
        tables.run("update lot set leased = leased + ? where id = ?", amount, lot.id);
        tables.run(
          "insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open) values (?, ?, ?, ?, ?, ?, 0, true)",
          ...[id, lot.id, account, String(core), Number(epoch), amount],
        );
        leased.push({ ...lot, account_id: account, id, lot_id: lot.id, granted: amount, spent: 0 } as never);
      }
    }
    return leased.sort((a, b) => byText(a.account_id, b.account_id));
  },

  facts: (tables, [accounts, core, now, lots, epoch]) =>
    (accounts as string[]).flatMap((account) => {
      const [row] = tables.all<{ created_at: number; paid_total: string; debt: string }>(
        `select id, created_at, cast(paid_total as text) as paid_total, cast(debt as text) as debt
         from account where id = ?`,
        account,
      );
      if (row === undefined) {
        return [];
      }
      const leased = tables.get<{ elsewhere: string; paid: string; retired: string | null }>(
        leasedOf,
        account,
        String(core),
        Number(epoch),
      );
      const [limit, at] = [Number(lots), toTime(now)];
      const page = firstLots(tables, account, at, limit, "all");
      const unleasedPaid = sum(
        page.length < limit
          ? page.filter(({ priority }) => priority >= priorities.paid)
          : firstLots(tables, account, at, limit, "paidFor"),
      );
      const prices = tables.get<object>(
        "select id as price_version, mark as price_mark from price_version order by id desc limit 1",
      );
      return [
        {
          ...{ price_version: null, ...prices, ...row },
          ...{
            elsewhere: leased?.elsewhere,
            retired: leased?.retired?.split(",") ?? null,
            unleased: String(sum(page)),
          },
          paid_left: String(BigInt(leased?.paid ?? 0) + unleasedPaid),
        },
      ];
    }),
};
