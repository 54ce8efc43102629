// The thread that writes the ledger of a SQLite file. It does one call after the other.

import { parentPort, workerData } from "node:worker_threads";
import { systemRandom } from "../../../../lib/ids/random.ts";
import { openSqlite } from "../../../storage/sqlite.ts";
import { type FlatCharges, unflatten } from "../flat-charges.ts";
import type { LedgerStore } from "../ledger-store.ts";
import { SqliteLedgerStore } from "./store.ts";

/** A method of the store to be called; charges to be settled come flattened. */
export interface StoreCall {
  readonly id: number;
  readonly method: Exclude<keyof LedgerStore, "shared" | "isViolation" | "announce" | "listen">;
  readonly parameters: readonly unknown[];
}

/** What it returned, or the error that it threw with SQLite's code. */
export type StoreAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly errcode: number | undefined };

const { path, coreId } = workerData as { path: string; coreId: string };
const database = openSqlite(path);
const store = new SqliteLedgerStore(async (run) => run(database), systemRandom, coreId);

parentPort?.on("message", async ({ id, method, parameters }: StoreCall) => {
  try {
    const run = store[method] as (...all: readonly unknown[]) => Promise<unknown>;
    const given = method === "settle" ? [unflatten(parameters[0] as FlatCharges)] : parameters;
    const result = await run.apply(store, [...given]);
    if (method === "end") database.close();
    parentPort?.postMessage({ id, result } satisfies StoreAnswer);
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    parentPort?.postMessage({ id, error: message, errcode } satisfies StoreAnswer);
  }
});
