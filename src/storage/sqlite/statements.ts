// A thread that runs the ORM's statements on a SQLite file: a commit waits for the disk, and so may a read.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { openReader, openSqlite } from "./file.ts";
import { type KnownFiles, OpenedFiles } from "./opened-files.ts";
import { readNumbers } from "./read-numbers.ts";
import { serveCalls } from "./serve-calls.ts";

/** The data that the thread starts with. */
export interface StatementsSetup {
  readonly path: string;
  /** The files that the process has open. */
  readonly files: KnownFiles;
  /** Whether it only reads. */
  readonly readOnly: boolean;
}

/** What a statement did. */
export interface Ran {
  readonly rows: readonly Record<string, unknown>[];
  readonly changes?: number | bigint;
  readonly insertId?: number | bigint;
}

const { path, files: known, readOnly } = workerData as StatementsSetup;
const files = new OpenedFiles(path, known);
files.check(); // a restarted thread must not open another file than the one before
const database: DatabaseSync = readOnly ? openReader(path) : openSqlite(path);

/** The units of work whose commit waits for the group's. */
let kept: { resolve(): void; reject(error: unknown): void }[] = [];

/** Runs one statement. */
function run(sql: string, parameters: readonly SQLInputValue[]): Ran {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true); // a sum may exceed 2^53, where node:sqlite would throw
  if (statement.columns().length > 0) {
    return { rows: statement.all(...parameters).map(readNumbers) };
  }
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return { rows: [], changes, insertId: lastInsertRowid };
}

/** Commits the open group, which writes to the disk once for all its units, and answers them. */
function commit(): void {
  const units = kept;
  kept = [];
  try {
    if (units.length > 0) {
      requireTransaction();
    }
    if (database.isTransaction) {
      database.exec("commit");
      files.check(); // a commit counts only where other processes find it
    }
  } catch (error) {
    if (database.isTransaction) {
      database.exec("rollback");
    }
    for (const unit of units) {
      unit.reject(error);
    }
    return;
  }
  for (const unit of units) {
    unit.resolve();
  }
}

/** Throws when SQLite has ended the transaction by itself, as on a full disk: a statement would commit alone. */
function requireTransaction(): void {
  if (!database.isTransaction) {
    throw new Error("SQLite has rolled the transaction back");
  }
}

const methods: Readonly<Record<string, (sql: string, parameters: readonly SQLInputValue[]) => unknown>> = {
  /** One statement by itself. */
  run(sql, parameters) {
    if (readOnly) {
      return run(sql, parameters);
    }
    commit();
    files.check();
    const ran = run(sql, parameters);
    files.check();
    return ran;
  },

  /** Begins a unit of work, in the transaction of the group where there is one. */
  begin() {
    if (!database.isTransaction) {
      commit(); // tells units that SQLite has rolled back by itself
      files.check();
      database.exec("begin immediate");
    }
    database.exec("savepoint unit");
  },

  /** A statement of the unit. */
  within(sql, parameters) {
    requireTransaction();
    return run(sql, parameters);
  },

  /** The unit is complete. Answered once its group is committed. */
  keep() {
    requireTransaction();
    database.exec("release unit");
    return new Promise<void>((resolve, reject) => kept.push({ resolve, reject }));
  },

  /** Takes the unit back, and nothing else of its group. */
  undo() {
    if (database.isTransaction) {
      database.exec("rollback to unit; release unit");
    }
  },

  commit,

  end() {
    database.close();
  },
};

serveCalls(async (method, [sql = "", parameters = []]) =>
  methods[method]?.(String(sql), parameters as readonly SQLInputValue[]),
);
