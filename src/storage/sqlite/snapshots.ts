import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { startThread } from "#lib/files/assets.ts";
import { pieceSize, type Row, type Snapshot, toSqlite } from "../reads/snapshot.ts";
import type { ReaderAnswer, ReaderQuestion } from "./reader.ts";

/** An unused thread, which has 8 MiB, is ended after this long: what reads again at once finds it. */
const idleMs = 3000;

/** Snapshots of a SQLite file, read by threads of their own: a long query must not stop the event loop. */
export class SqliteSnapshots {
  readonly #path: string;
  /** Threads without a snapshot: starting one takes longer than most queries. */
  readonly #idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout }[] = [];
  #ended = false;

  constructor(path: string) {
    this.#path = path;
  }

  open(): Snapshot {
    const worker = this.#take();
    /** Whether a query has more rows. */
    let reading = false;
    const leave = () => this.#keep(worker);
    async function* read(sql: string, parameters: readonly unknown[] = []) {
      reading = true;
      let next: ReaderQuestion = { sql, parameters: parameters.map(toSqlite) };
      for (;;) {
        const { rows = [], done } = await ask(worker, next);
        reading = !done;
        if (rows.length > 0) {
          yield rows;
        }
        if (done) {
          return;
        }
        next = "more";
        await endOfTurn(); // Node.js takes an answer that is there already in the same turn: many could become one long turn
      }
    }
    return {
      rows: read,
      async few(sql, parameters) {
        const found: Row[] = [];
        for await (const rows of read(sql, parameters)) {
          found.push(...rows);
        }
        return found;
      },
      async close() {
        // A query with more rows may be a long one: its thread ends with it.
        if (reading) {
          await worker.terminate();
          return;
        }
        await ask(worker, "end");
        leave();
      },
    };
  }

  /** Ends the threads that have no snapshot. The others end with their snapshots. */
  async end(): Promise<void> {
    this.#ended = true;
    const workers = this.#idle.splice(0).map(({ worker, timer }) => {
      clearTimeout(timer);
      return worker.terminate();
    });
    await Promise.all(workers);
  }

  #take(): Worker {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.timer);
      return idle.worker;
    }
    const worker = startThread("src/storage/sqlite/reader", { workerData: { path: this.#path, piece: pieceSize } });
    worker.unref();
    return worker;
  }

  #keep(worker: Worker): void {
    if (this.#ended) {
      void worker.terminate();
      return;
    }
    const entry = { worker, timer: setTimeout(() => this.#end(worker), idleMs) };
    entry.timer.unref();
    this.#idle.push(entry);
  }

  #end(worker: Worker): void {
    const at = this.#idle.findIndex((entry) => entry.worker === worker);
    this.#idle.splice(at, 1);
    void worker.terminate();
  }
}

type ReaderRows = Exclude<ReaderAnswer, { readonly error: string }>;

function ask(worker: Worker, question: ReaderQuestion): Promise<ReaderRows> {
  return new Promise((resolve, reject) => {
    worker.ref();
    const settle = (conclude: () => void) => {
      worker.unref();
      worker.off("message", answered);
      worker.off("error", failed);
      conclude();
    };
    const answered = (answer: ReaderAnswer) =>
      settle(() => ("error" in answer ? reject(new Error(answer.error)) : resolve(answer)));
    const failed = (error: Error) => settle(() => reject(error));
    worker.on("message", answered);
    worker.on("error", failed);
    worker.postMessage(question);
  });
}
