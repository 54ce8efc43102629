// The tables of days: receipts and their lines are partitioned by the day of their run's id, a UUID of version 7, so that
// a day leaves as a whole.

import type { Pool, PoolClient } from "pg";
import { dayMs, dayName } from "#lib/time/days.ts";
import { pauseAbout } from "#lib/time/pause-about.ts";

/** How many days have their tables before they begin. */
const daysAhead = 7;
const tries = 20;
const firstPauseMs = 20;
const leastLockMs = 10;
/** SQLSTATE: a lock could not be had in time; rows of the day came into the default table meanwhile; a deadlock. */
const passing: ReadonlySet<string> = new Set(["55P03", "23514", "40P01"]);

/** The partitioned tables. Receipts come first: they leave before their lines. */
export const dayTables = ["usage", "usage_line"] as const;
type DayTableName = (typeof dayTables)[number];

/** A table with the rows of one day. */
export interface DayTable {
  readonly name: string;
  readonly of: DayTableName;
  /** Since 1970 in UTC. */
  readonly day: number;
  /** Whether it is a partition. A detached one is about to be dropped. */
  readonly isAttached: boolean;
}

interface Row {
  readonly name: string;
  readonly attached: boolean;
}

/** The statement that finds tables of days in the session's schema. */
export const listDays = {
  name: "list days",
  text: `
  select relname::text as name, relispartition as attached from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname ~ '^usage_(line_)?[0-9]{8}$'
  order by relname`,
};

/** Reads what `listDays` returned. */
export function readDays(rows: readonly Row[]): DayTable[] {
  return rows.map(({ name, attached }) => {
    const [, line, year, month, date] = /^usage_(line_)?(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
    const day = Date.UTC(Number(year), Number(month) - 1, Number(date)) / dayMs;
    return { name, of: line === undefined ? "usage" : "usage_line", day, isAttached: attached };
  });
}

/** The lowest run id of a day. */
export function lowestRun(day: number): string {
  const time = (day * dayMs).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** The day of a run's id. Undefined: it is not of version 7, and tells no time. */
export function dayOfRun(runId: string): number | undefined {
  return runId[14] === "7"
    ? Math.floor(Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16) / dayMs)
    : undefined;
}

/** Today and the days that have their tables before they begin. */
export function daysAheadOf(now: number): number[] {
  const today = Math.floor(now / dayMs);
  return Array.from({ length: daysAhead + 1 }, (_, at) => today + at);
}

/** Makes the tables of days that have none. */
export async function makeDays(pool: Pool, days: readonly number[]): Promise<void> {
  const known = readDays((await pool.query<Row>(listDays.text)).rows);
  for (const day of days) {
    for (const of of dayTables.filter((one) => !isMade(known, one, day))) {
      await changeTables(pool, (client, lockMs) => makeDay(client, of, day, lockMs));
    }
  }
}

/** How many of the days, one after another, have all their tables. */
export function countMade(known: readonly DayTable[], days: readonly number[]): number {
  const missing = days.findIndex((day) => !dayTables.every((of) => isMade(known, of, day)));
  return missing === -1 ? days.length : missing;
}

const isMade = (known: readonly DayTable[], of: DayTableName, day: number): boolean =>
  known.some((table) => table.of === of && table.day === day);

/** Rows of the day that came before its table are in the default one. The table is complete before anybody sees it. */
async function makeDay(client: PoolClient, of: DayTableName, day: number, lockMs: number): Promise<void> {
  const name = `${of}_${dayName(day).replaceAll("-", "")}`;
  const span = [lowestRun(day), lowestRun(day + 1)].map((id) => `'${id}'`);
  await client.query("select pg_advisory_xact_lock(hashtext('tollgate days'))"); // cores make a day one after another
  if ((await client.query("select 1 from pg_class where oid = to_regclass($1)", [name])).rows.length > 0) {
    return;
  }
  await client.query(`set local lock_timeout = ${lockMs}; create table ${name} (like ${of} including all);
    with moved as (delete from ${of}_default where run_id >= ${span[0]} and run_id < ${span[1]} returning *)
    insert into ${name} select * from moved;
    alter table ${of} attach partition ${name} for values from (${span[0]}) to (${span[1]})`);
}

/**
 * How long an attempt waits for tables that others keep, and settlements behind it, in milliseconds. Where a commit takes
 * longer than that, as with a standby far away, there is always one under way: later attempts wait for longer.
 */
export const lockMsOf = (attempt: number): number => Math.min(leastLockMs * 2 ** Math.floor((attempt - 1) / 4), 160);

/**
 * The statement that tells whether a transaction has kept a table of days for longer than a commit takes: a dump, or a long
 * read. Those of other users count only where this one may see when they began.
 */
const isKept = {
  name: "days kept",
  text: `
  select exists (
    select from pg_locks join pg_class on pg_class.oid = relation join pg_stat_activity using (pid)
    where locktype = 'relation' and granted and database = (select oid from pg_database where datname = current_database())
      and relnamespace = current_schema()::regnamespace and relname ~ '^usage(_|$)'
      and xact_start < clock_timestamp() - interval '1 second') as kept`,
};

/**
 * Runs a transaction that changes tables, and again a few times when others keep them: nobody waits behind it for long.
 * `run` is told for how many milliseconds it may wait for them, which is no longer where somebody keeps them who outlasts
 * every attempt.
 */
export async function changeTables<T>(pool: Pool, run: (client: PoolClient, lockMs: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const lockMs = lockMsOf(attempt);
    const isInVain = lockMs > leastLockMs && (await pool.query<{ kept: boolean }>(isKept)).rows[0]?.kept;
    try {
      return await tryTransaction(pool, (client) => run(client, isInVain ? leastLockMs : lockMs));
    } catch (error) {
      if (attempt === tries || !passing.has(String((error as { code?: unknown }).code))) {
        throw error;
      }
      await pauseAbout(firstPauseMs * attempt);
    }
  }
}

async function tryTransaction<T>(pool: Pool, run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failed = true;
  try {
    await client.query("begin");
    const result = await run(client);
    await client.query("commit");
    failed = false;
    return result;
  } finally {
    client.release(failed); // a connection in an unknown state is not used again
  }
}
