import type { RecordBounds, RefusedRequest } from "../../model/store/request.ts";
import { mostLeaving, requestColumns, requestValues } from "../request-columns.ts";
import type { Executor, Statement } from "./executor.ts";

const types = ["text", "uuid", "text", "text", "text", "text", "int", "int", "text", "int", "float8"] as const;

/** $1 to $11 the columns, then how many are kept, the time before which none are, and the most that leave. */
const recordSql: Statement = {
  name: "record requests",
  text: `
  with gone as (
    delete from request_record where id = any(array(
      select id from request_record
      where id <= (select max(id) from request_record) - $12::bigint
        or id <= (select max(id) from request_record where at < to_timestamp($13::float8 / 1000))
      order by id limit $14 for update skip locked)))
  insert into request_record (${requestColumns.join(", ")})
  select ${requestColumns.map((name) => (name === "at" ? "to_timestamp(at / 1000)" : name)).join(", ")}
  from unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(", ")}) given (${requestColumns.join(", ")})
  where set_config('synchronous_commit', 'off', true) = 'off'`,
};

/** The record of refused requests. Its commit does not wait for the disk. */
export class Requests {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async record(requests: readonly RefusedRequest[], { before, most }: RecordBounds): Promise<void> {
    const rows = requests.map(requestValues);
    const columns = requestColumns.map((_, at) => rows.map((row) => row[at]));
    await this.#executor.query(recordSql, [...columns, most, before, mostLeaving(requests.length)]);
  }
}
