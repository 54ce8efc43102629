import type { Pool, PoolClient, QueryConfig } from "pg";
import { type Cursor, isCursor } from "./lost-cursors.ts";

/*
 * Wrong: nothing ends a connection whose statement gets no answer. `query_timeout` fails the statement alone, and
 * `client.query` does not tell when an answer is complete, so it is wrapped and the socket is ended from here.
 * Upstream: pg 8.23.0 (`Client.query`; brianc/node-postgres#3399; `client.connection.stream` is not declared).
 * Still needed while test/storage/silent-connections.test.ts sees pg alone keep a connection whose statement timed out.
 * Delete when pg ends a connection that gives no answer in time.
 */

/** A statement that may take longer than others. */
export interface LongQuery extends QueryConfig {
  readonly answerMs: number;
}

/** A statement that may take no longer than this, nor longer than others. */
export interface BriefQuery extends QueryConfig {
  readonly mostAnswerMs: number;
}

type Asked = string | Cursor | Partial<LongQuery & BriefQuery>;

/** SQLSTATE of a write in a read-only transaction. No session of ours begins one. */
const readOnly = "25006";

/**
 * Breaks connections on which a statement waits too long for its answer. A server that vanishes says nothing, and the
 * system goes on sending to it for a quarter of an hour; a proxy in between may stay silent for ever.
 */
export class AnswerLimit {
  #ms: number | undefined;

  /** Watches the connections that a pool makes from now on. */
  watch(pool: Pool): void {
    pool.on("connect", (client: PoolClient) => this.#time(client));
  }

  /** Limits the statements that begin from now on. Until then any may take as long as it needs. */
  begin(ms: number): void {
    this.#ms = ms;
  }

  #limitOf(statement: Asked): number | undefined {
    const { answerMs = this.#ms, mostAnswerMs } = statement as Partial<LongQuery & BriefQuery>;
    return mostAnswerMs === undefined ? answerMs : Math.min(mostAnswerMs, answerMs ?? mostAnswerMs);
  }

  #time(client: PoolClient): void {
    const { query } = client;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => clearTimeout(timer);
    const start = (ms: number | undefined) => {
      stop();
      if (ms !== undefined) {
        timer = setTimeout(() => client.connection.stream.destroy(silence(ms)), ms);
      }
    };
    client.query = ((...parameters: [Asked]) => {
      const answer: unknown = Reflect.apply(query, client, parameters);
      if (answer instanceof Promise) {
        answer.catch((error: unknown) => leaveStandby(client, error));
      }
      const [statement] = parameters;
      const ms = this.#limitOf(statement);
      if (isCursor(statement)) {
        limitCursor(statement, () => start(ms), stop);
      } else {
        start(ms);
      }
      return answer;
    }) as typeof query;
    client.on("drain", stop); // no statement waits for an answer any more
    client.once("end", () => {
      stop();
      client.query = query; // it fails at once, and nothing is left to limit
    });
  }
}

/** The server is asked at each read, and for the end. In between it waits for the reader, who may be slow. */
function limitCursor(cursor: Cursor, start: () => void, stop: () => void): void {
  const { read, close } = cursor;
  cursor.read = (rows) => {
    start();
    return read.call(cursor, rows).finally(stop);
  };
  cursor.close = () => {
    start();
    return close.call(cursor).finally(stop);
  };
}

/**
 * A primary that became a standby keeps its connections and refuses to write: a new connection finds the new primary.
 */
function leaveStandby(client: PoolClient, error: unknown): void {
  if ((error as { code?: unknown }).code === readOnly) {
    client.connection.stream.destroy();
  }
}

function silence(ms: number): Error {
  return Object.assign(new Error(`the database gave no answer for ${ms} ms`), { code: "ETIMEDOUT" });
}
