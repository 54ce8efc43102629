import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { keepDirectoryPrivate, keepFilePrivate } from "#lib/files/private-files.ts";
import { DiskFile } from "#src/money/journal/journal-file.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";

let folder: string;
let mask: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-private-"));
  mask = process.umask(0);
});
afterEach(() => {
  process.umask(mask);
  rmSync(folder, { recursive: true });
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const modes = (path: string) => Object.fromEntries(readdirSync(path).map((name) => [name, modeOf(join(path, name))]));

test("a database, its log, its lock and its directory are for their user alone", async () => {
  const path = join(folder, "data", "tollgate.db");
  const storage = await openStorage(`sqlite:${path}`);
  try {
    const found = modes(join(folder, "data"));
    expect(Object.keys(found)).toEqual(expect.arrayContaining(["tollgate.db", "tollgate.db-wal", "tollgate.db.lock"]));
    expect(new Set(Object.values(found))).toEqual(new Set(["600"]));
    expect(modeOf(join(folder, "data"))).toBe("700");
  } finally {
    await storage.close();
  }
});

test("a database that others could read is taken from them", async () => {
  const path = join(folder, "tollgate.db");
  await (await openStorage(`sqlite:${path}`)).close();
  chmodSync(path, 0o644);
  await (await openStorage(`sqlite:${path}`)).close();
  expect(modeOf(path)).toBe("600");
});

test("a journal is for its user alone, when it is new, found and replaced", () => {
  const path = join(folder, "journal");
  writeFileSync(path, "", { mode: 0o666 });
  const file = new DiskFile(path);
  expect(modeOf(path)).toBe("600");
  file.replace("text");
  expect(modeOf(path)).toBe("600");
  file.close();
});

test("files and directories are made private, and those that were not are corrected", () => {
  const directory = join(folder, "a", "b");
  expect(keepDirectoryPrivate(directory)).toBe(true);
  expect(modeOf(directory)).toBe("700");
  const open = join(folder, "open");
  mkdirSync(open, { mode: 0o755 });
  expect(keepDirectoryPrivate(open)).toBe(true);
  expect(modeOf(open)).toBe("700");
  keepFilePrivate(join(open, "file"));
  expect(modes(open)).toEqual({ file: "600" });
});
