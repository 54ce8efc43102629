import type { Pool, PoolClient } from "pg";
import { dayMs } from "#lib/time/days.ts";
import { changeTables, type DayTable, dayTables, lowestRun } from "#src/storage/postgresql/days.ts";
import type { LongQuery } from "#src/storage/workarounds/answer-limit.ts";
import { keptFromDay } from "../kept-from.ts";
import { findDays } from "./days.ts";
import type { Executor, Statement } from "./executor.ts";

/** The time, in milliseconds, before which all days are archived: read where something is removed, since a failover may take it back. */
const archived = `${keptFromDay}::float8 * ${dayMs}`;

/**
 * $1 the most, $2 and $3 the runs whose days leave as a whole. Waits for no lock and locks no slice, so that no settlement
 * waits for it. Its commit does not wait for the disk: receipts that a crash brings back are removed again.
 */
export const removeReceiptsSql: Statement = {
  name: "remove receipts",
  text: `
  with old as materialized (
    select request_id, run_id from usage
    where settled_at < to_timestamp(${archived} / 1000) and (run_id < $2::uuid or run_id >= $3::uuid)
    order by settled_at limit $1 for update skip locked),
  gone as (
    delete from usage using old where usage.request_id = old.request_id and usage.run_id = old.run_id
    returning usage.request_id, usage.run_id),
  line as (
    delete from usage_line using gone
    where usage_line.request_id = gone.request_id and usage_line.run_id = gone.run_id)
  select count(*)::int as removed, set_config('synchronous_commit', 'off', true) from gone`,
};

const readArchivedSql: Statement = { name: "archived", text: `select ${archived} as before` };

/** A day with later receipts is kept for another day rather than that more than this many leave one by one. */
const mostSingly = 10_000;

/** The longest wait for the number of a day's receipts, which are read for it. */
const countMs = 600_000;

/** Removes receipts that were archived. */
export class Receipts {
  readonly #executor: Executor;
  readonly #pool: Pool;

  constructor(executor: Executor, pool: Pool) {
    this.#executor = executor;
    this.#pool = pool;
  }

  /**
   * Whole days leave first, then at most so many receipts of other places. A day whose tables somebody keeps does not hold up
   * the others: it is told of once nothing else is left to remove.
   */
  async remove(most: number): Promise<number> {
    const before = await this.#readArchived();
    const ended = (await findDays(this.#executor)).filter(({ day }) => (day + 1) * dayMs <= before);
    let removed = 0;
    let firstWaiting = before / dayMs;
    const failures: unknown[] = [];
    for (const [day, tables] of Map.groupBy(ended, (table) => table.day)) {
      const left = await this.#removeDay(tables, before).catch((error: unknown) => void failures.push(error));
      removed += left ?? 0;
      firstWaiting = left === undefined ? Math.min(firstWaiting, day) : firstWaiting;
    }
    const values = [most, lowestRun(firstWaiting), lowestRun(before / dayMs)];
    const [row] = await this.#executor.query<{ removed: number }>(removeReceiptsSql, values);
    removed += row?.removed ?? 0;
    if (removed === 0 && failures.length > 0) {
      throw failures[0];
    }
    return removed;
  }

  /** Returns how many receipts left with their tables. Undefined: so many stay that they are not removed one by one. */
  async #removeDay(tables: readonly DayTable[], before: number): Promise<number | undefined> {
    const usage = tables.find(({ of, isAttached }) => of === "usage" && isAttached);
    const { receipts, later } = usage === undefined ? { receipts: 0, later: false } : await this.#count(usage, before);
    if (!later && (await this.#drop(tables, before))) {
      return receipts;
    }
    return receipts > mostSingly ? undefined : 0;
  }

  /**
   * Drops the tables of a day, receipts before their lines, to which they alone lead. Returns whether it did: not, when a
   * receipt came to them meanwhile. Those that come afterwards have the default place.
   */
  async #drop(tables: readonly DayTable[], before: number): Promise<boolean> {
    for (const { name, of, isAttached } of tables.toSorted(
      (a, b) => dayTables.indexOf(a.of) - dayTables.indexOf(b.of),
    )) {
      if (
        isAttached &&
        !(await changeTables(this.#pool, (client, lockMs) => detach(client, { name, of, before, lockMs })))
      ) {
        return false;
      }
      if (!(await changeTables(this.#pool, (client) => drop(client, name)))) {
        return false;
      }
    }
    return true;
  }

  async #readArchived(): Promise<number> {
    const [row] = await this.#executor.query<{ before: number }>(readArchivedSql, []);
    return row?.before ?? 0;
  }

  /** Counts a day's receipts, and tells whether some of them were settled later than the others, and stay. */
  async #count({ name }: DayTable, before: number): Promise<{ receipts: number; later: boolean }> {
    const text = `select (select count(*) from ${name})::int as receipts, ${settledLater(name)} as later, ${serial}`;
    const query: LongQuery = { text, values: [before], answerMs: countMs };
    const { rows } = await this.#pool.query<{ receipts: number; later: boolean }>(query);
    return rows[0] ?? { receipts: 0, later: false };
  }
}

/** One process runs what may change a setting, and the whole query with it: settlements have the other processors. */
const serial = "set_config('max_parallel_workers_per_gather', '0', true)";

/**
 * Whether a day's table has receipts that were settled at $1, in milliseconds, or later. Read from the end of an index, whatever
 * the planner knows of a table: settlements wait meanwhile.
 */
export const settledLater = (name: string) =>
  `coalesce((select max(settled_at) from ${name}) >= to_timestamp($1::float8 / 1000), false)`;

/**
 * Takes a table out while nothing can be stored in it. Returns whether it did: not, when it holds what is not archived, by
 * now or in the database that a failover has led to.
 */
async function detach(
  client: PoolClient,
  { name, of, before, lockMs }: Pick<DayTable, "name" | "of"> & { readonly before: number; readonly lockMs: number },
): Promise<boolean> {
  await client.query(`set local lock_timeout = ${lockMs}; set local synchronous_commit = off;
    alter table ${of} detach partition ${name}`);
  const later = of === "usage" ? settledLater(name) : "false";
  const { rows } = await client.query<{ stays: boolean }>(`select ${archived} < $1::float8 or ${later} as stays`, [
    before,
  ]);
  if (rows[0]?.stays) {
    await client.query("rollback"); // the transaction's end changes nothing then
    return false;
  }
  return true;
}

/** Drops a table that was taken out. Returns whether it is gone: a failover may have brought it back into its place. */
async function drop(client: PoolClient, name: string): Promise<boolean> {
  const { rows } = await client.query("select from pg_inherits where inhrelid = to_regclass($1)", [name]);
  if (rows.length > 0) {
    return false;
  }
  await client.query(`drop table if exists ${name}`);
  return true;
}
