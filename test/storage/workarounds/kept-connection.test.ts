import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Kysely, SqliteDialect, sql } from "kysely";
import { openStorage, type SqliteStorage } from "#src/storage/orm.ts";
import { inTransaction } from "#src/storage/transaction.ts";

// One connection for everybody: whatever becomes of a transaction, the next one has to get it.

let directory: string;
let path: string;
let storage: SqliteStorage;
let other: DatabaseSync;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "kept-connection-"));
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  path = join(directory, `${expect.getState().currentTestName?.length}.db`);
  storage = (await openStorage(`sqlite:${path}`)) as SqliteStorage;
  other = new DatabaseSync(path);
});
afterEach(async () => {
  other.close();
  await storage.close();
});

const read = () => storage.orm.em.fork().execute("select 1 as one");
const one = [{ one: 1 }];

test("a transaction that cannot begin, because the file is locked for too long, does not keep the connection", async () => {
  await storage.exclusive((database) => database.exec("pragma busy_timeout = 1"));
  other.exec("begin immediate");
  await expect(inTransaction(storage, (em) => em.execute("select 1"))).rejects.toThrow("database is locked");
  await expect(inTransaction(storage, async () => {})).rejects.toThrow("database is locked");
  expect(await read()).toEqual(one);
  other.exec("rollback");
  expect(await inTransaction(storage, (em) => em.execute("select 1 as one"))).toEqual(one);
});

test("neither does a transaction that SQLite has rolled back by itself, on a full disk", async () => {
  await storage.exclusive((database) => {
    const { page_count } = database.prepare("pragma page_count").get() ?? {};
    database.exec(`create table big (bytes blob); pragma max_page_count = ${Number(page_count) + 4}`);
  });
  const fill = inTransaction(storage, (em) => em.execute("insert into big values (zeroblob(10000000))"));
  await expect(fill).rejects.toThrow("database or disk is full");
  expect(await read()).toEqual(one);
  await inTransaction(storage, (em) => em.execute("insert into big values (zeroblob(10))"));
});

test("Kysely alone keeps the connection of a transaction that cannot begin, so the workaround is still needed", async () => {
  const database = new DatabaseSync(path, { timeout: 1 });
  const prepare = (text: string) => {
    const statement = database.prepare(text === "begin" ? "begin immediate" : text);
    return Object.assign(statement, { reader: statement.columns().length > 0 });
  };
  const dialect = new SqliteDialect({ database: { close: () => {}, prepare: prepare as never } });
  const kysely = new Kysely({ dialect });
  other.exec("begin immediate");
  await expect(kysely.startTransaction().execute()).rejects.toThrow("database is locked");
  const never = sql`select 1`.execute(kysely).then(() => "answered");
  const later = new Promise((resolve) => setImmediate(() => setImmediate(resolve, "waits")));
  expect(await Promise.race([never, later])).toBe("waits");
  other.exec("rollback");
  database.close();
});
