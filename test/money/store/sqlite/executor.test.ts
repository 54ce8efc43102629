import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Executor } from "#src/money/store/sqlite/executor.ts";
import { openSqlite } from "#src/storage/sqlite/file.ts";

const [normal, full] = [1, 2];

test("only work that can be done again does not wait for the disk, whether it succeeds or fails", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-executor-"));
  const database = openSqlite(join(directory, "a.db"));
  const executor = new Executor(async (run) => run(database));
  const synchronous = () => Number(database.prepare("pragma synchronous").get()?.synchronous);
  await executor.transaction(({ run }) => run("create table t (n integer check (n < 3))", []));
  const insert = (n: number) => executor.unhurried(({ run }) => [run("insert into t values (?)", [n]), synchronous()]);
  expect(await insert(1)).toEqual([1, normal]);
  expect(synchronous()).toBe(full);
  await expect(insert(3)).rejects.toThrow("CHECK");
  expect(synchronous()).toBe(full);
  expect(await executor.transaction(({ all }) => [all("select n from t", []).length, synchronous()])).toEqual([
    1,
    full,
  ]);
  database.close();
  rmSync(directory, { recursive: true });
});
