import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { History } from "#src/storage/postgresql/history.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-history-"));
  file = join(folder, "database-history.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (timeline: number, system = "7") => ({ standby: false, system, timeline });

test("a process refuses what an earlier one of its data directory has outlived, until the file is removed", () => {
  new History(file).follow(at(2));
  const later = new History(file);
  expect(later.timeline).toBe(2);
  expect(() => later.follow(at(1))).toThrow(
    `this database is on timeline 1, and this core has written to timeline 2: it is no continuation of what the core knows. Stop this server, or make it a standby of the new primary; after a restore, remove ${file}, which names the timeline, and restart the core`,
  );
  later.follow(at(3));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ system: "7", timeline: 3 });
  rmSync(file);
  expect(() => new History(file).follow(at(1))).not.toThrow();
});

test("another server is followed by a new process, and refused by one that has written", () => {
  new History(file).follow(at(2));
  const later = new History(file);
  later.follow(at(1, "8"));
  expect(() => later.follow(at(9, "7"))).toThrow("a timeline of another server");
});

test("a file that makes no sense, or cannot be written, stops nobody", () => {
  writeFileSync(file, "{");
  const history = new History(file);
  expect(history.timeline).toBeUndefined();
  rmSync(folder, { recursive: true });
  history.follow(at(2));
  expect(history.timeline).toBe(2);
  expect(() => history.follow(at(1))).toThrow("timeline");
  folder = mkdtempSync(join(tmpdir(), "tollgate-history-"));
});

test("that the database changed hands is counted: at a promotion, and on the way back from a server that was refused", () => {
  const history = new History();
  history.follow(at(1));
  history.follow(at(1));
  expect(history.turns).toBe(1);
  history.follow(at(2));
  expect(history.turns).toBe(2);
  expect(() => history.follow(at(1))).toThrow("timeline");
  expect(history.turns).toBe(2);
  history.follow(at(2));
  history.follow(at(2));
  expect(history.turns).toBe(3);
});
