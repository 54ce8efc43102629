import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListRequestsRequest } from "#gen/tollgate/metering/v1/request_pb.js";
import { Conditions } from "#src/money/books/receipts/conditions.ts";

type Filters = Pick<
  ListRequestsRequest,
  "accountId" | "requestId" | "keyId" | "model" | "reason" | "outcome" | "from" | "to"
>;

/** A list in SQL, without its bound. */
export interface Query {
  readonly sql: string;
  readonly conditions: Conditions;
  readonly order: string;
}

/** A moment as the database stores it. */
type Time = number | Date;

/** The recorded refusals, newest first. */
export function refusedQuery(filters: Filters): Query {
  const conditions = common(filters, "at");
  if (filters.reason !== "") {
    conditions.add("reason = ?", filters.reason);
  }
  return { sql: "select * from request_record", conditions, order: "at desc, id desc" };
}

/** Goes on after a time. `id`: after the refusal of that time. Undefined: all refusals of that time came before. */
export function refusedAfter({ conditions }: Query, time: Time, id: number | undefined | ""): void {
  if (typeof id === "number") {
    conditions.add("(at, id) < (?, ?)", time, id);
  } else {
    conditions.add("at < ?", time);
  }
}

/** The receipts, newest first. A run that failed is in the record, unless it has left it or was left out. */
export function finishedQuery(filters: Filters): Query {
  const conditions = common(filters, "settled_at");
  conditions.add(
    `(status <> 'failed' or not exists (
      select 1 from request_record where request_record.request_id = usage.request_id
        and request_record.account_id = usage.account_id))`,
  );
  return { sql: "select * from usage", conditions, order: "settled_at desc, run_id desc, request_id desc" };
}

/** Goes on after a time. `run`: after that receipt of the time. Undefined: receipts of that time come next. */
export function finishedAfter({ conditions }: Query, time: Time, run: readonly [string, string] | undefined): void {
  if (run === undefined) {
    conditions.add("settled_at <= ?", time);
  } else {
    conditions.add("(settled_at, run_id, request_id) < (?, ?, ?)", time, ...run);
  }
}

function common({ accountId, requestId, keyId, model, from, to }: Filters, time: string): Conditions {
  const conditions = new Conditions();
  const named = { account_id: accountId, request_id: requestId, key_id: keyId, model };
  for (const [column, value] of Object.entries(named)) {
    if (value !== "") {
      conditions.add(`${column} = ?`, value);
    }
  }
  // All are newer than 1970. Without a bound SQLite would sort the whole table for one page.
  conditions.add(`${time} >= ?`, from === undefined ? new Date(0) : timestampDate(from));
  if (to !== undefined) {
    conditions.add(`${time} < ?`, timestampDate(to));
  }
  return conditions;
}
