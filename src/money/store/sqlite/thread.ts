import { startThread } from "#lib/files/assets.ts";
import { DatabaseThread, type ThreadLife } from "#src/storage/sqlite/database-thread.ts";
import type { OpenedFiles } from "#src/storage/sqlite/opened-files.ts";
import type { LedgerStore } from "../../model/store/ledger.ts";
import { unavailable } from "../../model/unavailable.ts";
import { flatten } from "../flat-charges.ts";
import { isViolation } from "./charge-writer.ts";
import type { StoreMethod, StoreSetup } from "./worker.ts";

/** The calls that are only passed on: their parameters and answers cross as they are. */
const plainCalls = [
  "identify",
  "epochs",
  "heartbeat",
  "openSlices",
  "acquire",
  "isCharged",
  "giveBack",
  "close",
  "openBudgetSlices",
  "acquireBudget",
  "giveBackBudgets",
  "closeBudgets",
  "budgetSpending",
  "recountBudget",
  "unseenTallies",
  "markSeen",
  "foldTallies",
  "removeReceipts",
  "recordRequests",
  "reap",
] as const satisfies readonly StoreMethod[];

/**
 * The ledger in a SQLite file, written by a thread of its own: a commit waits for the disk, from a tenth of a
 * millisecond to several, and would stop every stream of the process meanwhile.
 */
export function createThreadStore(
  path: string,
  files: OpenedFiles,
  coreId: string,
  life: ThreadLife & { readonly usageEvents?: boolean },
): LedgerStore {
  const { usageEvents = false } = life;
  let epoch = 0; // a restarted thread continues the one before: the slices still belong to this process
  const make = () => {
    const workerData: StoreSetup = { path, files: files.known, coreId, epoch, usageEvents };
    return startThread("src/money/store/sqlite/worker", { workerData });
  };
  const thread = new DatabaseThread(make, life, (cause) =>
    unavailable("The ledger cannot be reached at the moment.", cause),
  );
  const calls = plainCalls.map((method) => [method, (...parameters: unknown[]) => thread.call(method, parameters)]);
  return {
    ...(Object.fromEntries(calls) as Pick<LedgerStore, (typeof plainCalls)[number]>),
    shared: false,
    isViolation,
    get isLost() {
      return files.lost !== undefined;
    },
    async enter(claim) {
      const entered: Awaited<ReturnType<LedgerStore["enter"]>> = await thread.call("enter", [claim]);
      epoch = entered.epoch;
      return entered;
    },
    settle: (charges) => thread.call("settle", [flatten(charges)]),
    settled: (runs) => thread.call("settled", [runs.map(({ requestId, runId }) => ({ requestId, runId }))]),
    makeDays: async () => undefined, // one table has them all
    async announce() {}, // there is no other core
    async listen() {},
    end: () => thread.close(),
  };
}
