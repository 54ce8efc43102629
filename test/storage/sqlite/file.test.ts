import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { lockFile, openSqlite } from "#src/storage/sqlite/file.ts";

let path: string;
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "tollgate-file-")), "tollgate.db");
});
afterEach(() => rmSync(join(path, ".."), { recursive: true }));

/** Runs a script in a process of its own, as somebody does who looks into the file. Returns what it prints. */
const elsewhere = (script: string) =>
  execFileSync(process.execPath, ["--input-type=module", "--no-warnings", "-e", script, path], { encoding: "utf8" });

// A process loses all its locks on a file as soon as it closes any descriptor of it.
test("another process that opens the database and closes it leaves the log of the one that has it open", () => {
  const first = openSqlite(path);
  first.exec("create table kept (number integer); insert into kept values (1)");
  const second = openSqlite(path);
  second.exec("insert into kept values (2)");
  const log = statSync(`${path}-wal`).ino;
  const read = elsewhere(`
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(process.argv[1]);
    console.log(database.prepare("select count(*) as rows from kept").get().rows);
    database.close();
  `);
  expect(read.trim()).toBe("2");
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.ino).toBe(log);
  first.close();
  second.close();
});

test("a lock holds against other processes when this one has asked for it twice", () => {
  const free = lockFile(path);
  expect(lockFile(path)).toBeUndefined();
  const taken = `
    import { DatabaseSync } from "node:sqlite";
    const lock = new DatabaseSync(process.argv[1] + ".lock");
    try { lock.exec("begin exclusive"); console.log("taken"); } catch { console.log("held"); }
  `;
  expect(elsewhere(taken).trim()).toBe("held");
  free?.();
  expect(elsewhere(taken).trim()).toBe("taken");
});
