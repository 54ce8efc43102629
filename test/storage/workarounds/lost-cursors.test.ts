import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "@jest/globals";
import { Pool, type Submittable } from "pg";
import { type Cursor, closeLostCursors } from "#src/storage/workarounds/lost-cursors.ts";
import { databases } from "../../money/databases.ts";
import { pause } from "../../support/pause.ts";

// A connection that ends under a cursor, whose reader then closes it.

type NewCursor = new (sql: string) => Cursor & Submittable;
/** The one that the ORM uses. */
const PgCursor: NewCursor = createRequire(fileURLToPath(import.meta.resolve("@mikro-orm/postgresql")))("pg-cursor");

const newDatabase = databases();
let url: string;
beforeAll(async () => {
  url = await newDatabase("postgresql");
}, 60_000);

/** Whether the close of a cursor whose connection ended ends, too. */
async function closes(mend: (pool: Pool) => void): Promise<boolean> {
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on("error", () => {});
  mend(pool);
  const client = await pool.connect();
  client.on("error", () => {});
  const cursor = client.query(new PgCursor("select n from generate_series(1, 3) n"));
  expect(await cursor.read(1)).toEqual([{ n: 1 }]);
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  client.connection.stream.destroy();
  await ended;
  await expect(cursor.read(1)).rejects.toThrow("terminated");
  const closed = cursor.close().then(() => true);
  const isClosed = await Promise.race([closed, pause(500, "a close that never ends").then(() => false)]);
  client.release(true);
  await pool.end();
  return isClosed;
}

test("a cursor is closed with its connection, for which pg-cursor alone waits for ever", async () => {
  expect(await closes(() => {})).toBe(false);
  expect(await closes(closeLostCursors)).toBe(true);
});
