import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
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
