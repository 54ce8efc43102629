import { type SliceRange, type SmallerSlice, type StoredSlice, slicePage } from "../../../model/store/wallet.ts";
import { deadSql, type Epochs } from "../epochs.ts";
import type { Executor, Statement } from "../executor.ts";

/** $1 core, $2 epoch, $3 account. */
const accountSlices: Statement = {
  name: "account slices",
  text: `
  select id, account_id, granted, granted - spent as unspent from slice
  where open and core_id = $1 and epoch = $2 and account_id = $3`,
};

/** $1 core, $2 epoch, $3 the account before the page, $4 slices after which the page ends with its account. */
const slicesAfter: Statement = {
  name: "slice page",
  text: `
  with page as (
    select account_id from slice where open and core_id = $1 and epoch = $2 and account_id > $3
    order by account_id limit $4)
  select id, account_id, granted, granted - spent as unspent from slice
  where open and core_id = $1 and epoch = $2 and account_id > $3
    and account_id <= (select account_id from page order by account_id desc limit 1)
  order by account_id`,
};

/** $1 slices, $2 their sizes from now on, $3 core, $4 epoch. */
const giveBackSql: Statement = {
  name: "give back",
  text: `
  with part as (select * from unnest($1::uuid[], $2::bigint[]) as t(slice_id, size)),
  mine as (
    select id, lot_id, size, granted - size as amount from slice join part on part.slice_id = slice.id
    where open and core_id = $3 and epoch = $4 and granted > size order by id for update of slice),
  smaller as (update slice set granted = mine.size from mine where slice.id = mine.id),
  held as (select id from lot where id in (select lot_id from mine) order by id for update)
  update lot set leased = lot.leased - sums.amount
  from (select lot_id, sum(amount)::bigint as amount from mine group by lot_id) sums, held
  where lot.id = sums.lot_id and held.id = lot.id`,
};

/** Closes the slices that `mine` selects: their spending becomes the lot's, and the rest goes back to the lot. */
const closing = (name: string, mine: string): Statement => ({
  name,
  text: `
  with mine as (${mine}),
  closed as (update slice set open = false from mine where slice.id = mine.id returning slice.id),
  held as (select id from lot where id in (select lot_id from mine) order by id for update),
  settled as (
    update lot set leased = lot.leased - sums.granted, spent = lot.spent + sums.spent
    from (select lot_id, sum(granted)::bigint as granted, sum(spent)::bigint as spent from mine group by lot_id) sums, held
    where lot.id = sums.lot_id and held.id = lot.id)
  select id from closed`,
});

/** $1 slices, $2 core, $3 epoch. */
const closeSql = closing(
  "close",
  `
  select id, lot_id, granted, spent from slice
  where id = any($1::uuid[]) and open and core_id = $2 and epoch = $3 order by id for update`,
);

/**
 * Looks for dead cores among those that hold slices, with one index step for each. Their rows are locked, so that a
 * core that comes back at this moment first learns that it was dead, and then sees what it has lost. A core that is
 * just coming back or being taken over is left alone.
 */
const reapSql = closing(
  "reap",
  `
  with recursive holder as (
    (select core_id from slice where open order by core_id limit 1)
    union all
    select (select core_id from slice where open and core_id > holder.core_id order by core_id limit 1)
    from holder where holder.core_id is not null)
  select slice.id, lot_id, granted, spent from slice join core on core.id = slice.core_id and core.epoch = slice.epoch
  where open and slice.core_id in (select core_id from holder) and ${deadSql}
  order by slice.id limit 1000 for update of slice skip locked for share of core skip locked`,
);

interface StoredSliceRow {
  readonly id: string;
  readonly account_id: string;
  readonly granted: string;
  readonly unspent: string;
}

/** Lists, shrinks and closes slices of lots. */
export class Slices {
  readonly #executor: Executor;
  readonly #core: Epochs;

  constructor(executor: Executor, core: Epochs) {
    this.#executor = executor;
    this.#core = core;
  }

  async open(range: SliceRange): Promise<StoredSlice[]> {
    const mine = [this.#core.coreId, this.#core.epoch];
    const rows = await ("accountId" in range
      ? this.#executor.query<StoredSliceRow>(accountSlices, [...mine, range.accountId])
      : this.#executor.query<StoredSliceRow>(slicesAfter, [...mine, range.after, slicePage]));
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      granted: Number(row.granted),
      unspent: Number(row.unspent),
    }));
  }

  async giveBack(slices: readonly SmallerSlice[]): Promise<void> {
    if (slices.length > 0) {
      const [ids, sizes] = [slices.map(({ sliceId }) => sliceId), slices.map(({ granted }) => granted)];
      await this.#executor.query(giveBackSql, [ids, sizes, this.#core.coreId, this.#core.epoch]);
    }
  }

  async close(sliceIds: readonly string[]): Promise<void> {
    if (sliceIds.length > 0) {
      await this.#executor.query(closeSql, [sliceIds, this.#core.coreId, this.#core.epoch]);
    }
  }

  /** Closes slices of dead cores. Returns how many. */
  async reap(): Promise<number> {
    return (await this.#executor.query(reapSql, [])).length;
  }
}
