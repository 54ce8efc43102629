import type { Pool, PoolClient } from "pg";

/*
 * Wrong: a cursor that is closed after its connection has ended waits for the server's answer for ever, and whoever reads
 * its rows with it, who never hears of the failure.
 * Upstream: pg-cursor 2.22.0 (`Cursor.close`), which kysely 0.29.6 awaits when a reader of rows ends (`streamQuery` of
 * PostgresDriver).
 * Still needed while test/storage/workarounds/lost-cursors.test.ts sees pg-cursor alone wait.
 * Delete when a cursor's close ends with its connection.
 */

/** A statement whose rows are read piece by piece. It submits itself. */
export interface Cursor {
  read(rows: number): Promise<unknown>;
  close(): Promise<void>;
}

/** Whether a statement is a cursor. */
export function isCursor(statement: unknown): statement is Cursor {
  const { read, close } = statement as Partial<Cursor>;
  return typeof read === "function" && typeof close === "function";
}

/** Has the cursors of a pool's connections end with these. */
export function closeLostCursors(pool: Pool): void {
  pool.on("connect", (client: PoolClient) => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
    client.query = ((...parameters: unknown[]) => {
      const [statement] = parameters;
      if (isCursor(statement)) {
        const { close } = statement;
        statement.close = () => Promise.race([close.call(statement), ended]);
      }
      return query(...parameters);
    }) as typeof client.query;
  });
}
