import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { OpenedFiles } from "#src/storage/sqlite/opened-files.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-opened-"));
  path = join(folder, "db");
  writeFileSync(path, "");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a file that was replaced is told, and found again once it is back", () => {
  const files = new OpenedFiles(path);
  expect(files.lost).toBeUndefined();
  renameSync(path, `${path}.moved`);
  writeFileSync(path, "another");
  expect(() => files.check()).toThrow(`${path} was moved, replaced or deleted`);
  renameSync(`${path}.moved`, path);
  files.check();
  expect(files.lost).toBeUndefined();
});

test("a file that cannot even be looked at is told, too, and ends no process that only looks", () => {
  const files = new OpenedFiles(path);
  renameSync(path, `${path}.moved`);
  symlinkSync(path, path); // leads to itself
  files.look();
  expect(files.lost).toBe(path);
  expect(() => files.check()).toThrow("was moved, replaced or deleted");
  rmSync(path);
  renameSync(`${path}.moved`, path);
  files.check();
});
