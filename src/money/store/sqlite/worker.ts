// The thread that writes the ledger of a SQLite file. It runs one call after the other.

import { workerData } from "node:worker_threads";
import { systemRandom } from "#lib/ids/random.ts";
import { openSqlite } from "#src/storage/sqlite/file.ts";
import { type KnownFiles, OpenedFiles } from "#src/storage/sqlite/opened-files.ts";
import { serveCalls } from "#src/storage/sqlite/serve-calls.ts";
import type { LedgerStore } from "../../model/store/ledger.ts";
import { type FlatCharges, unflatten } from "../flat-charges.ts";
import { SqliteLedgerStore } from "./store.ts";

/** The data that the thread starts with. */
export interface StoreSetup {
  readonly path: string;
  /** The files that the process has open. */
  readonly files: KnownFiles;
  readonly coreId: string;
  /** The epoch that it continues. 0: none has begun. */
  readonly epoch: number;
  /** Whether charges are noted for the receiver of usage events. */
  readonly usageEvents: boolean;
}

/** The methods that the thread has. Charges to settle are flattened. */
export type StoreMethod = Exclude<keyof LedgerStore, "shared" | "isLost" | "isViolation" | "announce" | "listen">;

const { path, coreId, files: known, ...options } = workerData as StoreSetup;
const files = new OpenedFiles(path, known);
files.check(); // a restarted thread must not open another file than the one before
const database = openSqlite(path);
const store = new SqliteLedgerStore(async (run) => run(database), systemRandom, coreId, options);

serveCalls(async (method, parameters) => {
  const run = store[method as StoreMethod] as (...all: readonly unknown[]) => Promise<unknown>;
  const given = method === "settle" ? [unflatten(parameters[0] as FlatCharges)] : parameters;
  const result = await run.apply(store, [...given]);
  files.check(); // a commit counts only where other processes find it
  if (method === "end") {
    database.close();
  }
  return result;
});
