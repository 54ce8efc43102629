import type { Pool, PoolClient, QueryResultRow } from "pg";
import { retryConflicts } from "../../../storage/retry.ts";
import type { BriefQuery } from "../../../storage/workarounds/answer-limit.ts";

/** A statement that the server plans once a connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement and answers with its rows. */
export type Query = <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** A statement without an answer for this long has failed as far as we can tell, and its connection is broken. */
const timeoutMs = 10_000;

/** Runs statements of the ledger, with or without a transaction around them; what lost to another transaction runs anew. */
export class Executor {
  readonly #pool: Pool;
  readonly #pooled: boolean;

  /** Pooled: a pooler may give each transaction another session, which then does not know our statements. */
  constructor(pool: Pool, pooled: boolean) {
    this.#pool = pool;
    this.#pooled = pooled;
  }

  /** One statement by itself. */
  readonly query: Query = (statement, values) => retryConflicts(() => this.#run(this.#pool, statement, values));

  /** All statements or none. */
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

  /** The server plans the statement once a connection; behind a pooler, anew each time. */
  async #run<Row extends QueryResultRow>(
    on: Pool | PoolClient,
    { name, text }: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    const statement: BriefQuery = { ...(this.#pooled ? {} : { name }), text, values, mostAnswerMs: timeoutMs };
    return (await on.query<Row>(statement)).rows;
  }
}
