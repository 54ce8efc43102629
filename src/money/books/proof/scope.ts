// The receipts that rules look at: those of days that are not sealed, or of a part of a day, or all.

import { dayMs, hourMs } from "#lib/time/days.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { keptFromDay } from "../../store/kept-from.ts";
import { allAccounts, hourlySums } from "../../store/rollups.ts";
import { longestSpan } from "../../store/spans.ts";
import { nearSlices } from "./near-slices.ts";

type Dialect = Storage["dialect"];

/** A span of time, in milliseconds since the epoch. The end is not part of it. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** A span of time whose absent ends are open. */
export type PartOfTime = Partial<TimeSpan>;

/** The receipts that rules look at, and the sealed days that they believe instead of the others. */
export interface Scope {
  /** Spans without receipts to look at, in order and apart, of whole days. */
  readonly sealed: readonly TimeSpan[];
  /** Looks only within this part. Absent: everywhere but in the sealed spans. */
  readonly within?: PartOfTime;
  /** Looks at the receipts of this part alone; sums and hours stay those of `within`. Absent: of `within`, too. */
  readonly receipts?: PartOfTime;
  /** Days whose last seal is not believed, from a day on. */
  readonly disbelieved: readonly number[];
  /** Whether sums of usage are looked at everywhere: they stay when receipts leave. */
  readonly allSums?: boolean;
}

/** The receipts of a span, and no seal. */
export const only = (within: PartOfTime): Scope => ({ sealed: [], disbelieved: [], within });

/** Every receipt, and no seal. */
export const everything: Scope = { sealed: [], disbelieved: [], allSums: true };

/** A time as the tables have it. */
const timeOf = (dialect: Dialect, ms: number) =>
  dialect === "postgresql" ? `to_timestamp(${ms}::float8 / 1000)` : String(ms);

/** The lines of receipts, found receipt by receipt: PostgreSQL would rather read every line that there is. */
export const linesOfReceipts = {
  postgresql: `select line.* from receipt cross join lateral (
    select * from usage_line where usage_line.request_id = receipt.request_id and usage_line.run_id = receipt.run_id
    offset 0) line`,
  sqlite: `select usage_line.* from receipt cross join usage_line
    where usage_line.request_id = receipt.request_id and usage_line.run_id = receipt.run_id`,
} as const;

/** That a seal is a near one. PostgreSQL would read all sealed accounts, but for the ids of seals in an array. */
export const amongNearSeals = {
  postgresql: "= any(array(select id from near_seal))",
  sqlite: "in (select id from near_seal)",
} as const;

/** The seals that count: the last one of each day. */
const lastSeals = "select id, day from day_seal where number in (select max(number) from day_seal group by day)";

/**
 * A condition on a column with slots of `of` hours: that they lie in slots of `hours` hours, of which the scope has a part.
 * Absent `of`: as long as these.
 */
export type SlotCondition = (column: string, hours: number, of?: number) => string;

/**
 * A rule's query with the tables that it names: `receipt` and `line`, as usage and usage_line; `counted_hour`, the
 * sums of the hours whose receipts are all among them; `believed_seal`, the seals of all other receipts; those of `nearSlices`,
 * with `sealed_cost`, what near slices have spent by these seals; `near_seal` and `near_account`, the seals of days that share
 * the longest span of usage with a day in scope, so that a proof does not take longer with every day that was sealed.
 */
export function inScope(sql: string | ((isInScope: SlotCondition) => string), scope: Scope, dialect: Dialect): string {
  const { sealed, disbelieved, allSums = false } = scope;
  const spans = openSpans(scope);
  const isAll = areAll(spans);
  const readsAll = areAll(receiptSpans(scope));
  const hours = isAll ? "" : ` where ${among(spans, "hour", (ms) => String(Math.ceil(ms / hourMs)))}`;
  const isInScope: SlotCondition = (column, length, of = length) => {
    const first = (slot: number) => (slot * length) / of;
    const overlaps = spans.map(({ from, to }) =>
      both(
        from && `${column} >= ${first(Math.floor(from / hourMs / length))}`,
        to && `${column} < ${first(Math.ceil(to / hourMs / length))}`,
      ),
    );
    return isAll || allSums ? "1 = 1" : anyOf(overlaps);
  };
  const lines = dialect === "postgresql" ? linesOfReceipts.postgresql : linesOfReceipts.sqlite;
  const amongNear = dialect === "postgresql" ? amongNearSeals.postgresql : amongNearSeals.sqlite;
  const none = sealed.length === 0 ? " where 1 = 0" : "";
  const believed = disbelieved.length === 0 ? none : ` where day not in (${disbelieved.join(", ")})`;
  return `
    with receipt as ${readsAll ? "not " : ""}materialized (${openReceipts(scope, dialect)}),
    line as ${readsAll ? "not materialized (select * from usage_line)" : `materialized (${lines})`},
    counted_hour as not materialized (select * from (${hourlySums}) hours${hours}),
    believed_seal as not materialized (select id, day from (${lastSeals}) seal${believed}),
    ${nearSlices(allSums ? undefined : sealed.at(-1)?.to, dialect)},
    near_seal as not materialized (select * from day_seal where ${isInScope("day", longestSpan, 24)}),
    near_account as not materialized (select * from sealed_account where seal_id ${amongNear})
    ${typeof sql === "string" ? sql : sql(isInScope)}`;
}

/**
 * A query for the receipts of a scope. Those of some days are to be read first, by their time: a planner that wants an order
 * would read all that are kept in it.
 */
export function openReceipts(scope: Scope, dialect: Dialect): string {
  const spans = receiptSpans(scope);
  const condition = among(spans, "settled_at", (ms) => timeOf(dialect, ms));
  return `select * from usage${areAll(spans) ? "" : ` where ${condition}`}`;
}

const receiptSpans = ({ receipts, ...scope }: Scope): PartOfTime[] =>
  openSpans(receipts === undefined ? scope : { ...scope, within: receipts });

/** The spans that a scope looks at, in order. */
export function openSpans({ sealed, within }: Scope): PartOfTime[] {
  const { from: first = Number.NEGATIVE_INFINITY, to: end = Number.POSITIVE_INFINITY } = within ?? {};
  return outside(sealed).flatMap(({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
    const both = { from: Math.max(from, first), to: Math.min(to, end) };
    return both.from < both.to ? [closed(both)] : [];
  });
}

/** A span without its ends that are open. */
const closed = ({ from, to }: TimeSpan): PartOfTime => ({
  ...(Number.isFinite(from) && { from }),
  ...(Number.isFinite(to) && { to }),
});

const areAll = ([span, ...others]: readonly PartOfTime[]) =>
  others.length === 0 && span !== undefined && span.from === undefined && span.to === undefined;

/** The condition that a column lies in one of the spans, whose ends are written as `of` says. */
const among = (spans: readonly PartOfTime[], column: string, of: (ms: number) => string) =>
  anyOf(spans.map(({ from, to }) => both(from && `${column} >= ${of(from)}`, to && `${column} < ${of(to)}`)));

/** That one of the conditions holds, of which there may be none. */
const anyOf = (conditions: readonly string[]) => (conditions.length === 0 ? "1 = 0" : conditions.join(" or "));

/** What lies between spans, before them and after them. */
function outside(spans: readonly TimeSpan[]): PartOfTime[] {
  const [first] = spans;
  if (first === undefined) {
    return [{}];
  }
  const after = spans.map(({ to: from }, at) => ({
    from,
    ...(spans[at + 1] && { to: spans[at + 1]?.from as number }),
  }));
  return [{ to: first.from }, ...after];
}

const both = (...conditions: (string | number | undefined)[]) => `(${conditions.filter(Boolean).join(" and ")})`;

/** A sealed day, and what the sums of usage say of it. */
export interface SealedDay {
  readonly day: number;
  readonly number: number;
  readonly id: string;
  readonly root: string;
  readonly receipts: number;
  /** The requests that were counted on that day. */
  readonly counted: number;
  /** Whether charges of that day may not be counted yet. */
  readonly isMoving: boolean;
  /** Whether its receipts have left the books. */
  readonly isGone: boolean;
  /** Whether its seal has all receipts of the day. */
  readonly isWhole: boolean;
}

/** The last seal of each day, ordered by day. Charges that came late are counted on the day, and not in its seal. */
const sealedDays = `
  select sealed.*, case when gone = 1 or (receipts = requests and moving = 0) then 1 else 0 end as whole from (
    select seal.day, seal.number, seal.id, seal.root, seal.receipts, coalesce(counted.requests, 0) as requests,
      case when moving.day is null then 0 else 1 end as moving, case when seal.day < ${keptFromDay} then 1 else 0 end as gone
    from day_seal seal
    left join (
      select slot, sum(requests) as requests from usage_rollup
      where account_id = '${allAccounts}' and span = 'day' group by slot) counted on counted.slot = seal.day
    left join (select distinct hour / 24 as day from usage_tally) moving on moving.day = seal.day
    where seal.number in (select max(number) from day_seal group by day)) sealed
  order by day`;

/** The sealed days as of a snapshot. */
export async function readSealedDays(snapshot: Pick<Snapshot, "rows">): Promise<SealedDay[]> {
  const days: SealedDay[] = [];
  for await (const rows of snapshot.rows(sealedDays)) {
    for (const { day, number, id, root, receipts, requests, moving, gone, whole } of rows) {
      days.push({
        day: Number(day),
        number: Number(number),
        id: String(id),
        root: String(root),
        receipts: Number(receipts),
        counted: Number(requests),
        isMoving: Number(moving) === 1,
        isGone: Number(gone) === 1,
        isWhole: Number(whole) === 1,
      });
    }
  }
  return days;
}

/** The sealed days in runs of one after the other that are believed, or are not: few rows, however many days there are. */
const runsOf = (believed: "gone" | "whole"): string => `
  select min(day) as first, max(day) as last, ${believed} as believed from (
    select day, ${believed}, day - row_number() over (partition by ${believed} order by day) as run
    from (${sealedDays}) sealed) days
  group by ${believed}, run order by first`;

/**
 * What rules look at, as of a snapshot: the seals that are whole are believed; with `all`, only those of days whose receipts
 * have left the books.
 */
export async function readScope(snapshot: Pick<Snapshot, "few">, all: boolean): Promise<Scope> {
  const sealed: TimeSpan[] = [];
  const disbelieved: number[] = [];
  for (const row of await snapshot.few(runsOf(all ? "gone" : "whole"))) {
    const [first, last] = [Number(row.first), Number(row.last)];
    if (Number(row.believed) === 1) {
      sealed.push({ from: first * dayMs, to: (last + 1) * dayMs });
    } else {
      disbelieved.push(...Array.from({ length: last + 1 - first }, (_, at) => first + at));
    }
  }
  return { sealed, disbelieved, allSums: all };
}
