import { closeBudgetSlices } from "./budgets.ts";
import type { Meaning, Tables } from "./statement.ts";

// Implements the statements about cores and their slices, like src/money/store/postgresql/statements.ts.

const sliceColumns = `
  slice.id, slice.lot_id, slice.account_id, slice.granted, slice.spent, kind, priority, price_version_id, own_prices_id,
  lot.created_at, lot.expires_at`;

/** True for a core that others took for dead and whose heart has not beaten since. */
const isDead = "core.dead_beat is core.beats";

interface ClosingSlice {
  readonly id: string;
  readonly lot_id: string;
  readonly granted: number;
  readonly spent: number;
}

/** Closes slices: their spending becomes the lot's, and the rest returns to the lot. */
function closeSlices(tables: Tables, slices: readonly ClosingSlice[]): readonly object[] {
  for (const { id, lot_id, granted, spent } of slices) {
    tables.run("update slice set open = false where id = ?", id);
    tables.run("update lot set leased = leased - ?, spent = spent + ? where id = ?", granted, spent, lot_id);
  }
  return slices.map(({ id }) => ({ id }));
}

export const coreStatements: Readonly<Record<string, Meaning>> = {
  identify(tables, [id]) {
    tables.run("insert into setting (name, value) values ('database_id', ?) on conflict do nothing", String(id));
    return tables.all("select value from setting where name = 'database_id'");
  },

  epochs: (tables, [core]) =>
    tables
      .all<{ dead: number }>(
        `select id as "coreId", epoch, beats, instance, ${isDead} as dead from core where id = ?
         order by epoch desc limit 1000`,
        String(core),
      )
      .map((row) => ({ ...row, dead: row.dead === 1 })),

  enter: (tables, [core, instance, after]) =>
    tables.all(
      `insert into core (id, epoch, instance, beats, heartbeat_at)
       select ?1, max(coalesce(max(epoch), 0), ?2) + 1, ?3, 1, ?4 from core where id = ?1 returning epoch`,
      ...[String(core), Number(after), instance as string | null, tables.now()],
    ),

  "lock adopted": (tables, [core, epoch, instance]) =>
    tables.all(
      "select epoch from core where id = ? and epoch < ? and instance = ? order by epoch",
      ...[String(core), Number(epoch), instance as string | null],
    ),

  adopt(tables, [core, epoch, instance]) {
    const mine = tables.all<{ id: string }>(
      `select ${sliceColumns} from slice join lot on lot.id = slice.lot_id
       join core on core.id = slice.core_id and core.epoch = slice.epoch
       where core_id = ? and open and core.epoch < ? and core.instance = ? order by slice.id`,
      ...[String(core), Number(epoch), instance as string | null],
    );
    for (const { id } of mine) {
      tables.run("update slice set epoch = ? where id = ?", Number(epoch), id);
    }
    return mine;
  },

  "adopt budgets"(tables, [core, epoch, instance]) {
    const mine = tables.all<{ id: string }>(
      `select budget_slice.id from budget_slice
       join core on core.id = budget_slice.core_id and core.epoch = budget_slice.epoch
       where core_id = ? and open and core.epoch < ? and core.instance = ?`,
      ...[String(core), Number(epoch), instance as string | null],
    );
    for (const { id } of mine) {
      tables.run("update budget_slice set epoch = ? where id = ?", Number(epoch), id);
    }
    return mine;
  },

  "forget adopted"(tables, [core, epoch, instance]) {
    const values = [String(core), Number(epoch), instance as string | null] as const;
    tables.run("delete from core where id = ? and epoch < ? and instance = ?", ...values);
    return [];
  },

  "enter again"(tables, [core, epoch, instance]) {
    tables.run(
      "insert into core (id, epoch, instance, beats, heartbeat_at) values (?, ?, ?, 1, ?) on conflict do nothing",
      ...[String(core), Number(epoch), instance as string | null, tables.now()],
    );
    return [];
  },

  heartbeat(tables, [core, epoch, answered]) {
    const key = [String(core), Number(epoch)] as const;
    const mine = tables.get<{ beats: number; dead_beat: number | null }>(
      "select beats, dead_beat from core where id = ? and epoch = ?",
      ...key,
    );
    if (mine === undefined) {
      return [];
    }
    const others = tables.all<object>(
      `select id as "coreId", epoch, beats from core where not (id = ? and epoch = ?) and not (${isDead})
       order by id, epoch limit 10000`,
      ...key,
    );
    tables.run("update core set beats = beats + 1, heartbeat_at = ? where id = ? and epoch = ?", tables.now(), ...key);
    const wasDead = mine.dead_beat !== null && mine.dead_beat >= Number(answered);
    return [{ beats: mine.beats + 1, was_dead: wasDead, others: others.map((other) => ({ ...other })) }];
  },

  bury(tables, [cores, epochs, beats]) {
    for (const [at, core] of (cores as string[]).entries()) {
      const [epoch, beat] = [Number((epochs as number[])[at]), Number((beats as number[])[at])];
      tables.run("update core set dead_beat = beats where id = ? and epoch = ? and beats = ?", core, epoch, beat);
    }
    return [];
  },

  "account slices": (tables, [core, epoch, account]) =>
    tables.all(
      `select id, account_id, granted, granted - spent as unspent from slice
       where open and core_id = ? and epoch = ? and account_id = ?`,
      ...[String(core), Number(epoch), String(account)],
    ),

  "slice page": (tables, [core, epoch, after, limit]) =>
    tables.all(
      `select id, account_id, granted, granted - spent as unspent from slice
       where open and core_id = ?1 and epoch = ?2 and account_id > ?3 and account_id <= (
         select max(account_id) from (select account_id from slice
           where open and core_id = ?1 and epoch = ?2 and account_id > ?3 order by account_id limit ?4))
       order by account_id`,
      ...[String(core), Number(epoch), String(after), Number(limit)],
    ),

  "give back"(tables, [slices, sizes, core, epoch]) {
    for (const [at, id] of (slices as string[]).entries()) {
      const size = Number((sizes as number[])[at]);
      const mine = tables.get<{ lot_id: string; granted: number }>(
        "select lot_id, granted from slice where id = ? and open and core_id = ? and epoch = ? and granted > ?",
        ...[id, String(core), Number(epoch), size],
      );
      if (mine !== undefined) {
        tables.run("update slice set granted = ? where id = ?", size, id);
        tables.run("update lot set leased = leased - ? where id = ?", mine.granted - size, mine.lot_id);
      }
    }
    return [];
  },

  close(tables, [slices, core, epoch]) {
    const mine = (slices as string[]).flatMap((id) =>
      tables.all<ClosingSlice>(
        "select id, lot_id, granted, spent from slice where id = ? and open and core_id = ? and epoch = ?",
        ...[id, String(core), Number(epoch)],
      ),
    );
    return closeSlices(tables, [...new Map(mine.map((slice) => [slice.id, slice])).values()]);
  },

  reap(tables) {
    const dead = tables.all<ClosingSlice>(
      `select slice.id, lot_id, granted, spent from slice
       join core on core.id = slice.core_id and core.epoch = slice.epoch
       where open and ${isDead} order by +slice.id limit 1000`,
    );
    return closeSlices(tables, dead);
  },

  "reap budgets"(tables, [limit]) {
    const dead = tables.all<Parameters<typeof closeBudgetSlices>[1][number]>(
      `select budget_slice.id, budget_id, window_name, granted, spent from budget_slice
       join core on core.id = budget_slice.core_id and core.epoch = budget_slice.epoch
       where open and ${isDead} order by +budget_slice.id limit ?`,
      Number(limit),
    );
    return closeBudgetSlices(tables, dead);
  },
};
