import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** Runs statements, each prepared once. */
export interface Runner {
  /** Returns how many rows changed. */
  run(sql: string, values: SQLInputValue[]): number;
  get<T>(sql: string, values: SQLInputValue[]): T | undefined;
  all<T>(sql: string, values: SQLInputValue[]): T[];
}

/** Runs a function that has the connection to itself. */
export type Exclusive = <T>(run: (database: DatabaseSync) => T) => Promise<T>;

/** Runs statements of the ledger on one connection, with or without a transaction. */
export class Executor {
  readonly #exclusive: Exclusive;
  readonly #statements = new Map<string, StatementSync>();

  constructor(exclusive: Exclusive) {
    this.#exclusive = exclusive;
  }

  /** Runs each statement by itself. */
  plain<T>(run: (runner: Runner) => T): Promise<T> {
    return this.#exclusive((database) => run(this.#runner(database)));
  }

  /** Runs all statements or none. */
  transaction<T>(run: (runner: Runner) => T): Promise<T> {
    return this.#exclusive((database) => this.#transact(database, run));
  }

  /**
   * The same for work that is done again when a power cut takes it back. Its commit does not wait for the disk: it goes
   * there with the next commit that does.
   */
  unhurried<T>(run: (runner: Runner) => T): Promise<T> {
    return this.#exclusive((database) => {
      database.exec("pragma synchronous = normal");
      try {
        return this.#transact(database, run);
      } finally {
        database.exec("pragma synchronous = full");
      }
    });
  }

  #transact<T>(database: DatabaseSync, run: (runner: Runner) => T): T {
    const runner = this.#runner(database);
    runner.run("begin immediate", []);
    try {
      const result = run(runner);
      runner.run("commit", []);
      return result;
    } catch (error) {
      if (database.isTransaction) {
        database.exec("rollback");
      }
      throw error;
    }
  }

  #runner(database: DatabaseSync): Runner {
    const prepare = (sql: string) => {
      let statement = this.#statements.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        this.#statements.set(sql, statement);
      }
      return statement;
    };
    return {
      run: (sql, values) => Number(prepare(sql).run(...values).changes),
      get: <T>(sql: string, values: SQLInputValue[]) => prepare(sql).get(...values) as T | undefined,
      all: <T>(sql: string, values: SQLInputValue[]) => prepare(sql).all(...values) as T[],
    };
  }
}
