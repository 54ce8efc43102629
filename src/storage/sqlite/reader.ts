// The thread that reads snapshots of a SQLite file. It answers each question with one piece of rows.

import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** A query to begin, "more" rows of the last query, or the "end" of the snapshot: the next query begins another one. */
export type ReaderQuestion = { readonly sql: string; readonly parameters: readonly SQLInputValue[] } | "more" | "end";

/** Some rows. done: there are no more. */
export type ReaderAnswer =
  | { readonly rows: readonly Record<string, unknown>[]; readonly done: boolean }
  | { readonly error: string };

const { path, piece } = workerData as { path: string; piece: number };
const database = new DatabaseSync(path, { readOnly: true, timeout: 5000, readBigInts: true });

let rows: Iterator<Record<string, unknown>> = [].values();

parentPort?.on("message", (question: ReaderQuestion) => {
  parentPort?.postMessage(answer(question));
});

function answer(question: ReaderQuestion): ReaderAnswer {
  try {
    if (question === "end") {
      if (database.isTransaction) {
        database.exec("rollback");
      }
      return { rows: [], done: true };
    }
    if (question !== "more") {
      if (!database.isTransaction) {
        database.exec("begin"); // the snapshot is that of the first read after this
      }
      rows = database.prepare(question.sql).iterate(...question.parameters);
    }
    const found: Record<string, unknown>[] = [];
    while (found.length < piece) {
      const next = rows.next();
      if (next.done) {
        return { rows: found, done: true };
      }
      found.push(next.value);
    }
    return { rows: found, done: false };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
