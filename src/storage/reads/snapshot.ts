import type { DatabaseSync } from "node:sqlite";
import type { Pool, PoolClient, QueryResult } from "pg";
import type { LongQuery } from "../workarounds/answer-limit.ts";

/** A row as the driver returns it: whole numbers are numbers, bigints or decimal strings. */
export type Row = Record<string, unknown>;

/** The database's state at one moment, read without delaying writers. */
export interface Snapshot {
  /** A standby told it: the moment of its state, in milliseconds since the epoch. Absent: the state is of this moment. */
  readonly asOf?: number;
  /** Runs a query with `?` parameters. Its rows come in pieces, when they are asked for. */
  rows(sql: string, parameters?: readonly unknown[]): AsyncGenerator<readonly Row[]>;
  /** Runs a query with few rows, about one piece at most: on a server that takes one exchange instead of three. */
  few(sql: string, parameters?: readonly unknown[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Rows in a piece: reading one piece takes the event loop about a millisecond. */
export const pieceSize = 100;
const mostSnapshots = 4;
/** The longest wait for a piece: a query that sums up all receipts returns its first rows after reading them all. */
const pieceMs = 1_800_000;

/** Reads a database in memory as it is: no other thread can open it. */
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
 * Lets a transaction's reader be slow, and no day's table leave or come before the transaction ends: its snapshot, which its
 * first query makes, shows rows as they were, and partitions as they are.
 */
export const keepDays =
  "set local idle_in_transaction_session_timeout = 0; lock table only usage, only usage_line in access share mode";

/** Begins a snapshot in one exchange. A cursor is read to its end; compiling a query takes longer than most queries run. */
const beginSnapshot = `begin isolation level repeatable read, read only;
  set local cursor_tuple_fraction = 1; set local jit = off; ${keepDays}`;

/** What a snapshot is for: some rows that an index finds, or every row of whole tables. */
export type Reach = "rows" | "tables";

/**
 * Whole tables are hashed or sorted to be joined. The planner takes a receipt's two ids for independent, expects one row
 * where millions come, and would compare each with every row of the next table. One process does it, in memory where it can:
 * settlements wait for processors, and for a disk that writes temporary files.
 */
const joinTables =
  "set local enable_nestloop = off; set local max_parallel_workers_per_gather = 0; set local work_mem = '32MB'";

type Piece = Promise<QueryResult<Row>>;

/** A snapshot of a PostgreSQL database, on its own connection, which is looked at before. */
export async function openPostgresqlSnapshot(
  pool: Pool,
  reach: Reach,
  look: (client: PoolClient) => Promise<void> = async () => {},
): Promise<Snapshot> {
  const client = await pool.connect();
  try {
    await look(client);
    await client.query(reach === "tables" ? `${beginSnapshot}; ${joinTables}` : beginSnapshot);
  } catch (error) {
    client.release(true);
    throw error;
  }
  const next: LongQuery = { text: `fetch ${pieceSize} from piece`, answerMs: pieceMs };
  const fetchPiece = (): Piece => {
    const piece = client.query<Row>(next);
    piece.catch(() => {}); // it may fail while the reader works, who learns it when asking for this piece
    return piece;
  };
  /** Whether a cursor is open. The next query, or the end of the transaction, closes it. */
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
        // The server fetches the next piece while the reader works on this one.
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

/** Converts `?` to the numbered parameters of PostgreSQL. */
function toNumbered(sql: string): string {
  let place = 0;
  return sql.replaceAll("?", () => `$${++place}`);
}

/** Limits how many snapshots are open at once. Further ones wait until one is closed. */
export function limited(open: (reach: Reach) => Promise<Snapshot>): (reach?: Reach) => Promise<Snapshot> {
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
  return async (reach = "rows") => {
    if (free > 0) {
      free--;
    } else {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      const snapshot = await open(reach);
      return { ...snapshot, close: () => snapshot.close().finally(leave) };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

/** A parameter in SQLite's form. */
export function toSqlite(parameter: unknown) {
  return parameter instanceof Date ? parameter.getTime() : (parameter as string | number | null);
}
