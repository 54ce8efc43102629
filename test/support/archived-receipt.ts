import { DatabaseSync } from "node:sqlite";
import { v7 } from "uuid";

const dayMs = 86_400_000;

/**
 * Records in a service's SQLite file that an empty day, 400 days ago, was archived. Returns that day, and the id of a
 * request of it.
 */
export function enterArchivedDay(file: string): { readonly requestId: string; readonly day: string } {
  const day = Math.floor(Date.now() / dayMs) - 400;
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database
    .prepare(
      `insert into receipt_archive (day, receipts, cost_high, cost_low, file, bytes, sha256, at)
       values (?, 0, 0, 0, 'receipts.jsonl.gz', 20, '', ?)`,
    )
    .run(day, Date.now());
  database.close();
  return {
    requestId: `req_${v7({ msecs: day * dayMs }).replaceAll("-", "")}`,
    day: new Date(day * dayMs).toISOString().slice(0, 10),
  };
}
