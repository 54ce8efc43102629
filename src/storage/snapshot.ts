import type { DatabaseSync } from "node:sqlite";
import type { Pool } from "pg";
import type { LongQuery } from "./workarounds/answer-limit.ts";

/** A row as the driver gives it: whole numbers are numbers, bigints or decimal strings. */
export type Row = Record<string, unknown>;

/** The database as it was at one moment, read without holding up those who write to it. */
export interface Snapshot {
  /** Runs a query with `?` parameters; its rows come in pieces, as they are asked for. */
  rows(sql: string, parameters?: readonly unknown[]): AsyncGenerator<readonly Row[]>;
  close(): Promise<void>;
}

/** Rows of a piece: to read one takes the event loop about a millisecond. */
export const pieceSize = 100;
const mostSnapshots = 4;
/** The first rows of a query that sums up all receipts come when it has read them all. */
const pieceMs = 1_800_000;

/** A database in memory, which no other thread can open, read as it is. */
export function memorySnapshot(database: DatabaseSync): Snapshot {
  return {
    async *rows(sql, parameters = []) {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      yield statement.all(...parameters.map(toSqlite));
    },
    close: async () => {},
  };
}

/** A snapshot of a PostgreSQL database, on a connection of its own. */
export async function openPostgresqlSnapshot(pool: Pool): Promise<Snapshot> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read, read only");
    // It locks nothing, and its reader may be a slow one.
    await client.query("set local idle_in_transaction_session_timeout = 0");
  } catch (error) {
    client.release(true);
    throw error;
  }
  const next: LongQuery = { text: `fetch ${pieceSize} from piece`, answerMs: pieceMs };
  return {
    async *rows(sql, parameters = []) {
      let place = 0;
      const numbered = sql.replaceAll("?", () => `$${++place}`);
      await client.query(`declare piece no scroll cursor for ${numbered}`, [...parameters]);
      try {
        for (;;) {
          const { rows } = await client.query<Row>(next);
          if (rows.length > 0) {
            yield rows;
          }
          if (rows.length < pieceSize) {
            return;
          }
        }
      } finally {
        await client.query("close piece").catch(() => {});
      }
    },
    async close() {
      const failed = await client.query("rollback").then(
        () => false,
        () => true,
      );
      client.release(failed);
    },
  };
}

/** Lets only so many snapshots be open at once; the others wait for one to be closed. */
export function limited(open: () => Promise<Snapshot>): () => Promise<Snapshot> {
  const waiting: (() => void)[] = [];
  let free = mostSnapshots;
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) {
      free++;
    } else {
      next();
    }
  };
  return async () => {
    if (free > 0) {
      free--;
    } else {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      const snapshot = await open();
      return { rows: snapshot.rows, close: () => snapshot.close().finally(leave) };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

/** A parameter as SQLite takes it. */
export function toSqlite(parameter: unknown) {
  return parameter instanceof Date ? parameter.getTime() : (parameter as string | number | null);
}
