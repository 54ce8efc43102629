import { DatabaseSync } from "node:sqlite";
import { NIL, v7 } from "uuid";

const dayMs = 86_400_000;

/**
 * Records in a service's SQLite file that a day, 400 days ago, was archived, on which every account has used something.
 * Returns that day, and the id of a request of it.
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
  database
    .prepare(
      `insert or ignore into usage_rollup
         (account_id, span, slot, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall)
       select id, 'day', ?, '', 'm', 0, 0, 0, 0, 0, 0 from account union all select ?, 'day', ?, '', 'm', 0, 0, 0, 0, 0, 0`,
    )
    .run(day, NIL, day);
  database.close();
  return {
    requestId: `req_${v7({ msecs: day * dayMs }).replaceAll("-", "")}`,
    day: new Date(day * dayMs).toISOString().slice(0, 10),
  };
}
