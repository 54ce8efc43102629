import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import { SqliteDialect } from "kysely";
import { keepFilePrivate } from "../../lib/private-files.ts";

const sqliteBusy = 5;

/**
 * Opens the file so that a commit survives a power cut. Write-ahead logging alone would not:
 * it syncs the log only at checkpoints unless synchronous is FULL.
 */
export function openSqlite(path: string): DatabaseSync {
  if (path !== ":memory:") {
    keepPrivate(path);
  }
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  return database;
}

/** SQLite gives the files beside a database the rights that the database has when it makes them. */
function keepPrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  keepFilePrivate(path);
  for (const beside of [`${path}-wal`, `${path}-shm`]) {
    if (existsSync(beside)) {
      keepFilePrivate(beside);
    }
  }
}

/**
 * Takes a file for this process alone. The lock is the operating system's, so it goes when the process
 * does, however that ends. Returns the function that gives it back; undefined: another process has it.
 */
export function lockFile(path: string): (() => void) | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  keepFilePrivate(`${path}.lock`);
  const lock = new DatabaseSync(`${path}.lock`);
  try {
    lock.exec("begin exclusive");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Names the lock that `lockFile` has taken: this very file on this machine since it was started. A copy of the file, or the
 * same one after a restart of the machine or seen from another one, is another lock. Undefined: it cannot be told.
 */
export function lockInstance(path: string): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const { dev, ino } = statSync(`${path}.lock`, { bigint: true });
    return `${boot}:${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Lets Kysely, and with it the ORM, use a connection. Transactions take the right to write when they begin:
 * one that first reads and then writes would fail whenever another connection wrote in between.
 */
export function sqliteDialect(database: DatabaseSync): SqliteDialect {
  return new SqliteDialect({
    database: {
      close: () => {},
      prepare(sql) {
        const statement = database.prepare(sql === "begin" ? "begin immediate" : sql);
        statement.setReadBigInts(true); // a sum may pass 2^53, where node:sqlite would throw
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...(parameters as SQLInputValue[])).map(narrow),
          run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
          *iterate(parameters) {
            for (const row of statement.iterate(...(parameters as SQLInputValue[]))) {
              yield narrow(row);
            }
          },
        };
      },
    },
  });
}

/** Whole numbers as numbers wherever a number holds them exactly. */
function narrow(row: Record<string, SQLOutputValue>): Record<string, SQLOutputValue> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
      row[name] = Number(value);
    }
  }
  return row;
}
