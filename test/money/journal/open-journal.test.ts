import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Disk, systemDisk } from "#src/money/journal/disk.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { JournalDirectory } from "./journal-directory.ts";

let journals: JournalDirectory;
beforeEach(() => {
  journals = new JournalDirectory();
});
afterEach(() => journals.remove());

test.each<[string, () => void, string]>([
  ["a directory in place of the journal", () => mkdirSync(journals.file), "journal: a directory is in its place"],
  [
    "a directory in place of its lock",
    () => mkdirSync(`${journals.file}.lock`),
    "journal: a directory is in its place",
  ],
  [
    "a directory in place of what is kept aside",
    () => mkdirSync(`${journals.file}.aside`),
    "a directory is in its place",
  ],
  [
    "a directory in place of the core's id",
    () => {
      rmSync(journals.idFile);
      mkdirSync(journals.idFile);
    },
    "core-id: a directory is in its place",
  ],
  [
    "a file in place of the directory",
    () => {
      rmSync(journals.place, { recursive: true });
      writeFileSync(journals.place, "");
    },
    "a file is where a directory has to be",
  ],
])("%s is told with what to do", (_, prepare, message) => {
  prepare();
  expect(() => journals.open()).toThrow(message);
});

test("a journal that cannot be used is left as it was found, with nothing of it open", () => {
  rmSync(journals.idFile);
  mkdirSync(journals.idFile);
  const open = new Set<number>();
  const disk: Disk = {
    ...systemDisk,
    openSync(path, flags, mode) {
      const descriptor = systemDisk.openSync(path, flags, mode);
      open.add(descriptor);
      return descriptor;
    },
    closeSync(descriptor) {
      open.delete(descriptor);
      systemDisk.closeSync(descriptor);
    },
  };
  expect(() => openJournal(dirname(journals.place), { ...journals.parts, disk })).toThrow("core-id: a directory");
  expect(open.size).toBe(0);
});
