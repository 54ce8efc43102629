import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { SqliteDialect } from "kysely";
import { readNumbers } from "./read-numbers.ts";

/** Lets Kysely, and with it the ORM, use a database in memory, which no other thread can open. */
export function memoryDialect(database: DatabaseSync): SqliteDialect {
  return new SqliteDialect({
    database: {
      close: () => {},
      prepare(sql) {
        const statement = database.prepare(sql);
        statement.setReadBigInts(true); // a sum may exceed 2^53, where node:sqlite would throw
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...(parameters as SQLInputValue[])).map(readNumbers),
          run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
          *iterate(parameters) {
            for (const row of statement.iterate(...(parameters as SQLInputValue[]))) {
              yield readNumbers(row);
            }
          },
        };
      },
    },
  });
}
