import { dayMs } from "#lib/time/days.ts";
import { keptFromDay } from "../kept-from.ts";
import type { Executor } from "./executor.ts";

const oldReceipts = `
  select request_id as requestId, run_id as runId from usage where settled_at < ${keptFromDay} * ${dayMs}
  order by settled_at limit ?`;

const removeReceipt = "delete from usage where request_id = ? and run_id = ?";

const removeLines = "delete from usage_line where request_id = ? and run_id = ?";

/** The statements that search tables that grow with requests. */
export const removalStatements = [oldReceipts, removeReceipt, removeLines] as const;

interface OldReceipt {
  readonly requestId: string;
  readonly runId: string;
}

/** Removes receipts that were archived. */
export class Receipts {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  remove(most: number): Promise<number> {
    return this.#executor.unhurried(({ all, run }) => {
      const receipts = all<OldReceipt>(oldReceipts, [most]);
      for (const { requestId, runId } of receipts) {
        run(removeLines, [requestId, runId]);
        run(removeReceipt, [requestId, runId]);
      }
      return receipts.length;
    });
  }
}
