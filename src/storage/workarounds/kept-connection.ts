import type { DatabaseSync } from "node:sqlite";
import type { SqliteStatement } from "kysely";

/*
 * Wrong: a transaction that cannot begin, or whose rollback fails, never gives its connection back. SQLite has one for
 * the whole process, so every later read and write waits for ever. It happens after another program kept the file
 * locked for longer than the timeout, or after a full disk, upon which SQLite rolls back by itself and then refuses the
 * rollback.
 * Upstream: kysely 0.29.6 (`execute` of ControlledTransactionBuilder, `rollback` of ControlledTransaction;
 * kysely-org/kysely#1990), which @mikro-orm/sql 7.2.1 makes transactions with.
 * Still needed while test/storage/workarounds/kept-connection.test.ts sees Kysely alone keep such a connection.
 * Delete when Kysely releases its connection however a transaction ends.
 */

type Prepare = (sql: string) => SqliteStatement;

/**
 * Lets every transaction reach a rollback that succeeds, because the rollback gives the connection back. In a
 * transaction that could not begin, all statements until its rollback throw the error that prevented the beginning.
 */
export function releaseAlways(database: Pick<DatabaseSync, "isTransaction">, prepare: Prepare): Prepare {
  let failure: { readonly error: unknown } | undefined;
  const begin = () => {
    try {
      return prepare("begin immediate").run([]);
    } catch (error) {
      failure = { error };
      return nothing;
    }
  };
  const rollback = () => {
    failure = undefined;
    return database.isTransaction ? prepare("rollback").run([]) : nothing;
  };
  return (sql) => {
    if (sql === "begin") {
      return toStatement(begin);
    }
    if (sql === "rollback") {
      return toStatement(rollback);
    }
    if (failure !== undefined) {
      throw failure.error;
    }
    return prepare(sql);
  };
}

const nothing = { changes: 0, lastInsertRowid: 0 };

/** A statement that returns no rows. */
function toStatement(run: SqliteStatement["run"]): SqliteStatement {
  return { reader: false, run, all: () => [], iterate: () => [].values() };
}
