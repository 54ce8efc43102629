import type { Pool, PoolClient, QueryResultRow } from "pg";
import { retryConflicts } from "#src/storage/retry.ts";
import type { BriefQuery } from "#src/storage/workarounds/answer-limit.ts";

/** A statement that the server plans once for each connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement and returns its rows. */
export type Query = <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** A statement without an answer for this long counts as failed, and its connection is broken off. */
const timeoutMs = 10_000;

/** Runs statements of the ledger, with or without a transaction. Whatever lost to another transaction runs anew. */
export class Executor {
  readonly #pool: Pool;
  readonly #pooled: boolean;

  /** `pooled`: a pooler may give each transaction another session, which does not know our prepared statements. */
  constructor(pool: Pool, pooled: boolean) {
    this.#pool = pool;
    this.#pooled = pooled;
  }

  /** Runs one statement by itself. */
  readonly query: Query = (statement, values) => retryConflicts(() => this.#run(this.#pool, statement, values));

  /** Runs all statements or none. */
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T> {
    return retryConflicts(() => this.#tryTransaction(run));
  }

  async #tryTransaction<T>(run: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failed = true;
    try {
      await client.query("begin isolation level read committed");
      const result = await run((statement, values) => this.#run(client, statement, values));
      await client.query("commit");
      failed = false;
      return result;
    } finally {
      client.release(failed); // a connection in an unknown state is not used again
    }
  }

  /** The server plans the statement once for each connection. Behind a pooler it plans it each time. */
  async #run<Row extends QueryResultRow>(
    on: Pool | PoolClient,
    { name, text }: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    const statement: BriefQuery = { ...(this.#pooled ? {} : { name }), text, values, mostAnswerMs: timeoutMs };
    return (await on.query<Row>(statement)).rows;
  }
}
