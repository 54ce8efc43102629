import { channel } from "node:diagnostics_channel";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { eventually } from "../../support/eventually.ts";

// Another connection, of this very thread, holds the file, as a slow disk would: whatever made this thread wait for it would
// wait for ever, since only this thread can let go.

let directory: string;
let storage: Storage;
let other: DatabaseSync;
let threads: Worker[];
let told: string[];
const started = (message: unknown) => void threads.push((message as { worker: Worker }).worker);
beforeEach(async () => {
  [threads, told] = [[], []];
  channel("worker_threads").subscribe(started);
  directory = mkdtempSync(join(tmpdir(), "tollgate-access-"));
  const path = join(directory, "tollgate.db");
  storage = await openStorage(`sqlite:${path}`, undefined, (message) => told.push(message));
  other = new DatabaseSync(path, { timeout: 5000 });
  other.exec("create table note (text text unique)");
});
afterEach(async () => {
  channel("worker_threads").unsubscribe(started);
  await storage.close();
  other.close();
  rmSync(directory, { recursive: true });
});

const execute = (sql: string) => storage.orm.em.fork().execute<Record<string, unknown>[]>(sql);
const note = (text: string) => inTransaction(storage, (em) => em.execute(`insert into note values ('${text}')`));
const notes = () =>
  other
    .prepare("select text from note order by rowid")
    .all()
    .map(({ text }) => text);

test("while the disk is slow, the event loop turns and reads are answered; writes wait, and all of them come", async () => {
  other.exec("begin immediate");
  let written = 0;
  const writes = Array.from({ length: 50 }, (_, at) => note(String(at)).then(() => written++));
  for (let turns = 0; turns < 100; turns += 1) {
    expect(await execute("select count(*) as rows from note")).toEqual([{ rows: 0 }]);
  }
  expect(written).toBe(0);
  other.exec("rollback");
  await Promise.all(writes);
  expect(notes()).toEqual(Array.from({ length: 50 }, (_, at) => String(at)));
});

test("a unit that fails takes nothing of its group with it", async () => {
  const outcomes = await Promise.allSettled([note("a"), note("a"), note("b")]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(String((outcomes[1] as PromiseRejectedResult).reason)).toContain("UNIQUE constraint failed");
  expect(notes()).toEqual(["a", "b"]);
});

test("a read sees every write that was answered, and none of an open unit", async () => {
  await note("first");
  await inTransaction(storage, async (em) => {
    await em.execute("insert into note values ('open')");
    expect(await execute("select text from note")).toEqual([{ text: "first" }]);
  });
  expect(await execute("select text from note")).toEqual([{ text: "first" }, { text: "open" }]);
});

test("a transaction that cannot begin, because the file is locked for too long, keeps nobody waiting after it", async () => {
  await execute("pragma busy_timeout = 1");
  other.exec("begin immediate");
  await expect(note("a")).rejects.toThrow("database is locked");
  await expect(note("b")).rejects.toThrow("database is locked");
  expect(await execute("select 1 as one")).toEqual([{ one: 1 }]);
  other.exec("rollback");
  await note("c");
  expect(notes()).toEqual(["c"]);
});

test("what SQLite has rolled back by itself, on a full disk, is told to all of its group", async () => {
  const [{ page_count: pages } = { page_count: 0 }] = await execute("pragma page_count");
  await execute(`pragma max_page_count = ${Number(pages) + 4}`);
  const fill = (text: string) => inTransaction(storage, (em) => em.execute(`insert into note values (${text})`));
  const outcomes = await Promise.allSettled([note("a"), fill("zeroblob(10000000)"), note("b")]);
  expect(outcomes[1]?.status).toBe("rejected");
  const kept = ["a", "b"].filter((_, at) => outcomes[at * 2]?.status === "fulfilled");
  expect(notes()).toEqual(kept);
  await note("c");
  expect(notes()).toContain("c");
});

test("a thread that ends is started again: what it was asked fails as unreachable, and nothing of it stays", async () => {
  const [writer] = threads;
  other.exec("begin immediate");
  const lost = Promise.allSettled([note("a"), note("b")]);
  const ended = writer?.terminate();
  other.exec("rollback");
  await ended;
  for (const outcome of await lost) {
    expect(isUnreachable((outcome as PromiseRejectedResult).reason)).toBe(true);
  }
  expect(told.join()).toMatch(/the thread that writes .* ended/);
  await eventually("it writes again", () =>
    note("c").then(
      () => true,
      () => false,
    ),
  );
  expect(notes()).toEqual(["c"]);
});

test("a transaction that only reads sees one state, and waits for no writer", async () => {
  await note("a");
  other.exec("begin immediate");
  await storage.orm.em.fork().transactional(
    async (em) => {
      const count = () => em.execute("select count(*) as rows from note");
      expect(await count()).toEqual([{ rows: 1 }]);
      other.exec("insert into note values ('b'); commit");
      expect(await count()).toEqual([{ rows: 1 }]);
    },
    { readOnly: true },
  );
  expect(await execute("select count(*) as rows from note")).toEqual([{ rows: 2 }]);
});

test("a file that could not be opened is in use by nobody afterwards", async () => {
  const path = join(directory, "broken.db");
  writeFileSync(path, "no database ".repeat(1000));
  await expect(openStorage(`sqlite:${path}`)).rejects.toThrow("not a database");
  rmSync(path);
  const opened = await openStorage(`sqlite:${path}`);
  await opened.close();
});
