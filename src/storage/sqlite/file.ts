import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { keepFilePrivate } from "#lib/files/private-files.ts";

const sqliteBusy = 5;
/** Milliseconds that a thread waits for the lock of another connection: as long as for an answer of PostgreSQL. */
const lockMs = 20_000;

/**
 * Opens the file so that a commit survives a power cut. Write-ahead logging alone would not ensure that: it syncs the
 * log only at checkpoints unless synchronous is FULL.
 */
export function openSqlite(path: string): DatabaseSync {
  if (path !== ":memory:") {
    keepPrivate(path);
    keepTemporaryFilesBeside(path);
  }
  const database = new DatabaseSync(path, { timeout: lockMs });
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  return database;
}

/** Opens a file that is there already, to read it. */
export function openReader(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: lockMs });
}

/**
 * Has SQLite keep its temporary files beside the database: a container with a read-only root has no other place for
 * them. SQLite reads this when the process opens its first database.
 */
function keepTemporaryFilesBeside(path: string): void {
  process.env.SQLITE_TMPDIR ??= dirname(resolve(path));
}

/** SQLite creates the files beside a database with the database's own permissions. */
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
 * Locks a file for this process. The lock is the operating system's, so it ends with the process in any case. Returns
 * the function that unlocks it. Undefined: another process has the lock.
 */
export function lockFile(path: string): (() => void) | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  keepFilePrivate(`${path}.lock`);
  keepTemporaryFilesBeside(path);
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
 * Names the lock that `lockFile` has taken: this very file on this machine since its start. A copy of the file, or the
 * same file after a restart of the machine or seen from another machine, is another lock. Undefined: the name is
 * unknown.
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
