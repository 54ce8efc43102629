import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { SqliteDialect } from "kysely";
import { releaseAlways } from "../workarounds/kept-connection.ts";
import type { OpenedFiles } from "./opened-files.ts";

/**
 * Lets Kysely, and with it the ORM, use a connection. A write counts only when it is in the files that were opened:
 * statements throw when these are not in their place. `files` absent: the database is in memory. Transactions take the
 * write lock when they begin: one that first reads and then writes would fail whenever another connection wrote in
 * between.
 */
export function sqliteDialect(database: DatabaseSync, files?: Pick<OpenedFiles, "check">): SqliteDialect {
  return new SqliteDialect({
    database: {
      close: () => {},
      prepare: releaseAlways(database, (sql) => {
        const statement = database.prepare(sql);
        statement.setReadBigInts(true); // a sum may exceed 2^53, where node:sqlite would throw
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...(parameters as SQLInputValue[])).map(narrow),
          run(parameters) {
            if (!database.isTransaction) {
              files?.check(); // before it begins
            }
            const result = statement.run(...(parameters as SQLInputValue[]));
            if (!database.isTransaction) {
              files?.check(); // and after it is committed
            }
            return result;
          },
          *iterate(parameters) {
            for (const row of statement.iterate(...(parameters as SQLInputValue[]))) {
              yield narrow(row);
            }
          },
        };
      }),
    },
  });
}

/** Converts whole numbers to JavaScript numbers wherever these are exact. */
function narrow(row: Record<string, SQLOutputValue>): Record<string, SQLOutputValue> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
      row[name] = Number(value);
    }
  }
  return row;
}
