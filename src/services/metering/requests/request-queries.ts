import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListRequestsRequest } from "#gen/tollgate/metering/v1/request_pb.js";
import { Conditions } from "#src/money/books/receipts/conditions.ts";

type Filters = Pick<
  ListRequestsRequest,
  "accountId" | "requestId" | "keyId" | "model" | "reason" | "outcome" | "from" | "to"
>;

/** A list in SQL, without its bound. */
export interface Query {
  readonly table: "usage" | "request_record";
  /** The column of the time by which it is ordered. */
  readonly time: string;
  readonly conditions: Conditions;
  readonly order: string;
  /**
   * Those of the conditions that an index knows, where others are tried row by row. Undefined: there are no others, or few rows
   * to try.
   */
  readonly known: Conditions | undefined;
}

type Dialect = "sqlite" | "postgresql";

/** The recorded refusals, newest first. */
export function refusedQuery(filters: Filters, dialect: Dialect, after?: After): Query {
  const time = "at";
  const conditions = common(filters, time, dialect);
  if (filters.reason !== "") {
    conditions.add("reason = ?", filters.reason);
  }
  const isTried = filters.reason !== "" || filters.model !== "";
  const known = isTried && filters.requestId === "" ? knownTo(filters, time) : undefined;
  if (after !== undefined) {
    refusedAfter(conditions, after);
    known?.add(`at ${upTo(after)} ?`, after.time);
  }
  return { table: "request_record", time, conditions, order: "at desc, id desc", known };
}

/** The receipts, newest first. A run that failed is in the record, unless it has left it or was left out. */
export function finishedQuery(filters: Filters, dialect: Dialect, after?: After): Query {
  const time = "settled_at";
  const conditions = common(filters, time, dialect);
  conditions.add(
    `(status <> 'failed' or not exists (
      select 1 from request_record where request_record.request_id = usage.request_id
        and request_record.account_id = usage.account_id))`,
  );
  const isTried = filters.keyId !== "" || filters.model !== "";
  const known = isTried && filters.requestId === "" ? knownTo(filters, time) : undefined;
  if (after !== undefined) {
    finishedAfter(conditions, after);
    known?.add(`settled_at ${upTo(after)} ?`, after.time);
  }
  return { table: "usage", time, conditions, order: "settled_at desc, run_id desc, request_id desc", known };
}

/** What a page of a list begins after: everything of later times, and of this time what is said. */
export interface After {
  /** A moment as the database stores it. */
  readonly time: number | Date;
  /** After a refusal of that time, by its id; after a receipt of it; or after everything of it. */
  readonly place: { readonly refusal: number } | { readonly run: readonly [string, string] } | "end";
}

/** Whether rows of that time are looked at again. After all of it they are not: as many as an answer's share would come for ever. */
const upTo = ({ place }: After) => (place === "end" ? "<" : "<=");

function refusedAfter(conditions: Conditions, { time, place }: After): void {
  if (place !== "end" && "refusal" in place) {
    conditions.add("(at, id) < (?, ?)", time, place.refusal);
  } else {
    conditions.add("at < ?", time); // of one time, refusals come first
  }
}

function finishedAfter(conditions: Conditions, { time, place }: After): void {
  if (place === "end") {
    conditions.add("settled_at < ?", time);
  } else if ("run" in place) {
    conditions.add("(settled_at, run_id, request_id) < (?, ?, ?)", time, ...place.run);
  } else {
    conditions.add("settled_at <= ?", time);
  }
}

/** The conditions of an index: an account and times. */
function knownTo({ accountId, from, to }: Filters, time: string): Conditions {
  const conditions = new Conditions();
  if (accountId !== "") {
    conditions.add("account_id = ?", accountId);
  }
  addTimes(conditions, time, { from, to });
  return conditions;
}

function common(filters: Filters, time: string, dialect: Dialect): Conditions {
  const { accountId, requestId, keyId, model, from, to } = filters;
  const conditions = new Conditions();
  if (requestId !== "") {
    conditions.add("request_id = ?", requestId);
  }
  // A sign keeps SQLite, which has no statistics, from other indexes than that of the request: an account may have millions.
  const other = requestId !== "" && dialect === "sqlite" ? "+" : "";
  const named = { account_id: accountId, key_id: keyId, model };
  for (const [column, value] of Object.entries(named)) {
    if (value !== "") {
      conditions.add(`${other}${column} = ?`, value);
    }
  }
  addTimes(conditions, `${other}${time}`, { from, to });
  return conditions;
}

/** All are newer than 1970. Without a bound SQLite would sort the whole table for one page. */
function addTimes(conditions: Conditions, time: string, { from, to }: Pick<Filters, "from" | "to">): void {
  conditions.add(`${time} >= ?`, from === undefined ? new Date(0) : timestampDate(from));
  if (to !== undefined) {
    conditions.add(`${time} < ?`, timestampDate(to));
  }
}
