import type { Executor, Statement } from "./executor.ts";

/**
 * $1 the time before which receipts are removed, $2 the most. Waits for no lock and locks no slice, so that no
 * settlement waits for it. Its commit does not wait for the disk: receipts that a crash brings back are removed again.
 */
export const removeReceiptsSql: Statement = {
  name: "remove receipts",
  text: `
  with gone as (
    delete from usage where ctid = any(array(
      select ctid from usage where settled_at < to_timestamp($1::float8 / 1000) order by settled_at limit $2
      for update skip locked))
    returning request_id, run_id),
  line as (
    delete from usage_line using gone
    where usage_line.request_id = gone.request_id and usage_line.run_id = gone.run_id)
  select count(*)::int as removed, set_config('synchronous_commit', 'off', true) from gone`,
};

/** Removes receipts that were archived. */
export class Receipts {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async remove(before: number, most: number): Promise<number> {
    const [row] = await this.#executor.query<{ removed: number }>(removeReceiptsSql, [before, most]);
    return row?.removed ?? 0;
  }
}
