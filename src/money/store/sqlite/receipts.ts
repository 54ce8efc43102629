import type { PicoUsd } from "../../model/interface.ts";
import type { Executor } from "./executor.ts";

const oldReceipts = `
  select request_id as requestId, run_id as runId, cost, budget_slice_id as budgetSliceId from usage
  where settled_at < ? order by settled_at limit ?`;

const removeReceipt = "delete from usage where request_id = ? and run_id = ?";

const removeLines = "delete from usage_line where request_id = ? and run_id = ? returning slice_id as sliceId, cost";

const archive = `
  insert into archived_cost (slice_id, cost) values (?, ?)
  on conflict (slice_id) do update set cost = cost + excluded.cost`;

/** The statements that search tables that grow with requests. */
export const removalStatements = [oldReceipts, removeReceipt, removeLines] as const;

interface OldReceipt {
  readonly requestId: string;
  readonly runId: string;
  readonly cost: PicoUsd;
  readonly budgetSliceId: string | null;
}

interface OldLine {
  readonly sliceId: string;
  readonly cost: PicoUsd;
}

/** Removes receipts that were archived. */
export class Receipts {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  remove(before: number, most: number): Promise<number> {
    return this.#executor.unhurried(({ all, run }) => {
      const receipts = all<OldReceipt>(oldReceipts, [before, most]);
      const costs = new Map<string, PicoUsd>();
      const add = (sliceId: string, cost: PicoUsd) => costs.set(sliceId, (costs.get(sliceId) ?? 0) + cost);
      for (const { requestId, runId, cost, budgetSliceId } of receipts) {
        for (const line of all<OldLine>(removeLines, [requestId, runId])) {
          add(line.sliceId, line.cost);
        }
        if (budgetSliceId !== null) {
          add(budgetSliceId, cost);
        }
        run(removeReceipt, [requestId, runId]);
      }
      for (const [sliceId, cost] of costs) {
        run(archive, [sliceId, cost]);
      }
      return receipts.length;
    });
  }
}
