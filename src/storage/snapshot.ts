import type { DatabaseSync } from "node:sqlite";
import type { Pool, QueryResult } from "pg";
import type { LongQuery } from "./workarounds/answer-limit.ts";

/** A row as the driver gives it: whole numbers are numbers, bigints or decimal strings. */
export type Row = Record<string, unknown>;

/** The database as it was at one moment, read without holding up those who write to it. */
export interface Snapshot {
  /** Runs a query with `?` parameters; its rows come in pieces, as they are asked for. */
  rows(sql: string, parameters?: readonly unknown[]): AsyncGenerator<readonly Row[]>;
  /** Runs a query of few rows, at most about a piece: on a server that takes one exchange instead of three. */
  few(sql: string, parameters?: readonly unknown[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Rows of a piece: to read one takes the event loop about a millisecond. */
export const pieceSize = 100;
const mostSnapshots = 4;
/** The first rows of a query that sums up all receipts come when it has read them all. */
const pieceMs = 1_800_000;

/** A database in memory, which no other thread can open, read as it is. */
export function memorySnapshot(database: DatabaseSync): Snapshot {
  const all = (sql: string, parameters: readonly unknown[] = []) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement.all(...parameters.map(toSqlite));
  };
  return {
    async *rows(sql, parameters) {
      yield all(sql, parameters);
    },
    few: async (sql, parameters) => all(sql, parameters),
    close: async () => {},
  };
}

/**
 * How a snapshot begins, in one exchange. It locks nothing, and its reader may be a slow one; a cursor is read to its end; and
 * to compile a query takes longer than most of them run.
 */
const beginSnapshot = `begin isolation level repeatable read, read only;
  set local idle_in_transaction_session_timeout = 0; set local cursor_tuple_fraction = 1; set local jit = off`;

type Piece = Promise<QueryResult<Row>>;

/** A snapshot of a PostgreSQL database, on a connection of its own. */
export async function openPostgresqlSnapshot(pool: Pool): Promise<Snapshot> {
  const client = await pool.connect();
  try {
    await client.query(beginSnapshot);
  } catch (error) {
    client.release(true);
    throw error;
  }
  const next: LongQuery = { text: `fetch ${pieceSize} from piece`, answerMs: pieceMs };
  const fetchPiece = (): Piece => {
    const piece = client.query<Row>(next);
    piece.catch(() => {}); // it may fail while the reader works, who is told when it asks for this piece
    return piece;
  };
  /** Whether there is a cursor, which the next query closes, or the end of the transaction. */
  let isOpen = false;
  const closeCursor = async () => {
    if (isOpen) {
      isOpen = false;
      await client.query("close piece");
    }
  };
  return {
    async *rows(sql, parameters = []): AsyncGenerator<readonly Row[]> {
      await closeCursor();
      await client.query(`declare piece no scroll cursor for ${toNumbered(sql)}`, [...parameters]);
      isOpen = true;
      for (let coming: Piece | undefined = fetchPiece(); coming !== undefined; ) {
        const { rows }: QueryResult<Row> = await coming;
        // The server works on the next piece while the reader does on this one.
        coming = rows.length < pieceSize ? undefined : fetchPiece();
        if (rows.length > 0) {
          yield rows;
        }
      }
    },
    async few(sql, parameters = []) {
      const query: LongQuery = { text: toNumbered(sql), values: [...parameters], answerMs: pieceMs };
      return (await client.query<Row>(query)).rows;
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

/** Parameters as PostgreSQL takes them. */
function toNumbered(sql: string): string {
  let place = 0;
  return sql.replaceAll("?", () => `$${++place}`);
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
      return { ...snapshot, close: () => snapshot.close().finally(leave) };
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
