import { firstLots, freeMoney } from "../../../src/metering/store/spending-order.ts";
import { countEpoch } from "./own-epoch.ts";
import type { Meaning } from "./statement.ts";

// What the statements about lots mean, beside src/metering/store/postgresql/statements.ts.

const page = firstLots({ account: "?1", now: "?2", limit: "?3" });
const paidPage = firstLots({ account: "?1", now: "?2", limit: "?3", paid: true });

interface LotRow {
  readonly id: string;
  readonly available: number;
}

const toTime = (at: unknown) => (at as Date).getTime();

export const lotStatements: Readonly<Record<string, Meaning>> = {
  "lock lots": (tables, [accounts, now, lots, core, epoch]) =>
    (accounts as string[]).flatMap((account) =>
      tables
        .all<object>(`select id from (${page})`, account, toTime(now), Number(lots))
        .map((lot) => ({ ...lot, own: countEpoch(tables, core, epoch) })),
    ),

  lease(tables, [accounts, leasts, mosts, ids, perAccount, cores, now, core, epoch, locked]) {
    const lockedIds = new Set(locked as string[]);
    const leased: { readonly account_id: string }[] = [];
    for (const [at, account] of (accounts as string[]).entries()) {
      const [least, most] = [Number((leasts as number[])[at]), Number((mosts as number[])[at])];
      const lots = tables
        .all<LotRow>(
          `select id, kind, priority, price_version_id, created_at, expires_at, account_id, ${freeMoney} as available
           from (${page})`,
          ...[account, toTime(now), Number(perAccount)],
        )
        .filter(({ id }) => lockedIds.has(id));
      const all = lots.reduce((sum, { available }) => sum + available, 0);
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
    return leased.sort((a, b) => (a.account_id < b.account_id ? -1 : a.account_id > b.account_id ? 1 : 0));
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
      const slices = tables.get<{ elsewhere: string; paid: number }>(
        `select cast(coalesce(sum(slice.granted - slice.spent) filter (where not (slice.core_id = ?2 and slice.epoch = ?3)), 0) as text) as elsewhere,
           coalesce(sum(slice.granted - slice.spent) filter (where lot.kind = 'paid'), 0) as paid
         from slice join lot on lot.id = slice.lot_id where slice.account_id = ?1 and slice.open`,
        ...[account, String(core), Number(epoch)],
      );
      const sum = (from: string) =>
        tables.get<{ free: number }>(
          `select coalesce(sum(${freeMoney}), 0) as free from (${from})`,
          ...[account, toTime(now), Number(lots)],
        )?.free ?? 0;
      const paidLeft = String((slices?.paid ?? 0) + sum(paidPage));
      const prices = tables.get<object>(
        "select id as price_version, mark as price_mark from price_version order by id desc limit 1",
      );
      return [
        {
          price_version: null,
          ...prices,
          ...row,
          elsewhere: slices?.elsewhere ?? "0",
          unleased: String(sum(page)),
          paid_left: paidLeft,
        },
      ];
    }),
};
