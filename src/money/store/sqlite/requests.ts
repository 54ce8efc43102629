import type { RecordBounds, RefusedRequest } from "../../model/store/request.ts";
import { mostLeaving, requestColumns, requestValues } from "../request-columns.ts";
import type { Executor } from "./executor.ts";

const insert = `
  insert into request_record (${requestColumns.join(", ")}) values (${requestColumns.map(() => "?").join(", ")})`;

const leave = `
  delete from request_record where id in (
    select id from request_record
    where id <= (select max(id) from request_record) - ? or id <= (select max(id) from request_record where at < ?)
    order by id limit ?)`;

/** The record of refused requests. */
export class Requests {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  record(requests: readonly RefusedRequest[], { before, most }: RecordBounds): Promise<void> {
    return this.#executor.unhurried(({ run }) => {
      for (const request of requests) {
        run(insert, [...requestValues(request)]);
      }
      run(leave, [most, before, mostLeaving(requests.length)]);
    });
  }
}
