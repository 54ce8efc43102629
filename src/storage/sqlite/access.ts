import type { DatabaseSync } from "node:sqlite";
import type { Dialect } from "kysely";
import { startThread } from "#lib/files/assets.ts";
import { systemClock } from "#lib/time/clock.ts";
import { endAll } from "#lib/time/end-all.ts";
import { memorySnapshot, type Snapshot } from "../reads/snapshot.ts";
import { DatabaseThread } from "./database-thread.ts";
import { lockFile, openSqlite } from "./file.ts";
import { memoryDialect } from "./memory-dialect.ts";
import { OpenedFiles } from "./opened-files.ts";
import { SqliteSnapshots } from "./snapshots.ts";
import type { StatementsSetup } from "./statements.ts";
import { threadDialect } from "./thread-dialect.ts";

/** The ways to a database of SQLite. */
export interface SqliteAccess {
  readonly dialect: Dialect;
  /** Undefined: the database is in memory. */
  readonly files: OpenedFiles | undefined;
  /** The connection of a database in memory. Undefined: those of a file are on threads. */
  readonly database: DatabaseSync | undefined;
  snapshot(): Promise<Snapshot>;
  /** Ends all, once the ORM is closed. */
  close(): Promise<void>;
}

/** Opens a database in memory. */
export function accessMemory(): SqliteAccess {
  const database = openSqlite(":memory:");
  return {
    dialect: memoryDialect(database),
    files: undefined,
    database,
    snapshot: async () => memorySnapshot(database),
    close: async () => database.close(),
  };
}

/** Opens a file for this process alone. From then on only threads use it: this one waits for no disk. */
export async function accessFile(path: string, warn: (message: string) => void): Promise<SqliteAccess> {
  // Two cores on one file would lend out the same money twice.
  const unlock = lockFile(path);
  if (unlock === undefined) {
    throw new Error(`${path} is in use by another tollgate process; several cores need PostgreSQL`);
  }
  const ends: (() => unknown)[] = [unlock];
  const close = () => endAll(ends.toReversed());
  try {
    return await open(path, warn, ends, close);
  } catch (error) {
    await close().catch(() => {}); // the earlier error says more
    throw error;
  }
}

/** Opens a file that is locked. What is to be ended is added to `ends`. */
async function open(
  path: string,
  warn: (message: string) => void,
  ends: (() => unknown)[],
  close: () => Promise<void>,
): Promise<SqliteAccess> {
  const first = openSqlite(path); // makes the files, or says why it cannot
  const files = new OpenedFiles(path);
  ends.push(files.watch());
  const writer = startStatements(path, files, false, warn);
  ends.push(() => writer.close());
  const reader = startStatements(path, files, true, warn);
  ends.push(() => reader.close());
  const snapshots = new SqliteSnapshots(path);
  ends.push(() => snapshots.end());
  const snapshot = async () => {
    files.check(); // a further connection would open the file that is there now
    return snapshots.open();
  };
  try {
    await writer.call("run", ["select 1"]);
  } finally {
    first.close();
  }
  return {
    dialect: threadDialect({ reader, writer, snapshot }),
    files,
    database: undefined,
    snapshot,
    close,
  };
}

function startStatements(path: string, files: OpenedFiles, readOnly: boolean, warn: (message: string) => void) {
  const make = () => {
    const workerData: StatementsSetup = { path, files: files.known, readOnly };
    return startThread("src/storage/sqlite/statements", { workerData });
  };
  const ended = (error: Error, restartMs: number) =>
    warn(`the thread that ${readOnly ? "reads" : "writes"} ${path} ended: ${error.message}; again in ${restartMs} ms`);
  return new DatabaseThread(make, { clock: systemClock, ended }, (cause) =>
    Object.assign(new Error("the database cannot be reached at the moment", { cause }), { code: "EPIPE" }),
  );
}
