import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { systemRandom } from "../../../lib/ids/random.ts";
import { type CoreJournal, FileJournal, openJournal } from "../../../src/metering/journal/file-journal.ts";
import { decode, encode, type JournalRecord } from "../../../src/metering/journal/journal-file.ts";
import { FIRST_RUN } from "../../../src/metering/ledger/run.ts";
import type { Charge } from "../../../src/metering/store/ledger-store.ts";
import { ManualClock } from "../manual-clock.ts";

let directory: string;
let clock: ManualClock;
let journal: CoreJournal | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
  clock = new ManualClock();
});
afterEach(async () => {
  await journal?.close();
  journal = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const nothing = () => {};
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const open = () => {
  journal = openJournal(directory, { clock, random: systemRandom, logger });
  return journal;
};
const file = () => join(directory, "1", "journal");
const entry = (requestId: string, outputTokens = 0) => ({
  ...{ requestId, runId: `run of ${requestId}`, accountId: "a", keyId: "k", model: "m\n\"'é" },
  tokens: { inputTokens: 7, outputTokens },
});
const charge = (requestId: string): Charge => ({
  ...{
    requestId,
    runId: `run of ${requestId}`,
    accountId: "a",
    keyId: "k",
    model: "m",
    inputTokens: 1,
    outputTokens: 2,
    cost: 3,
    shortfall: 0,
  },
  ...{ status: "completed", settledAt: 5, lines: [] },
});
/** What the next process finds after this one was killed now. */
const remainsAfterKill = async () => {
  const copy = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
  mkdirSync(join(copy, "1"));
  writeFileSync(join(copy, "1", "journal"), readFileSync(file()));
  const next = openJournal(copy, { clock, random: systemRandom, logger });
  const remains = await next.read();
  await next.close();
  rmSync(copy, { recursive: true });
  return remains;
};

test("reads what a version without run ids has written", async () => {
  const { runId: _of, ...note } = entry("r1", 5);
  const { runId: _too, ...promise } = charge("r2");
  const lines = [{ note }, { promise }, { note: { ...note, requestId: "r3" } }, { forget: "r3" }];
  mkdirSync(join(directory, "1"), { recursive: true });
  writeFileSync(file(), lines.map((record) => encode([record as JournalRecord])).join(""));
  const now = open();
  expect(await now.read()).toEqual({
    charges: [{ ...promise, runId: FIRST_RUN }],
    running: [{ ...note, runId: FIRST_RUN }],
  });
  now.forget({ requestId: "r1", runId: FIRST_RUN });
  await clock.advance(50);
  expect((await remainsAfterKill()).running).toEqual([]);
});

test("remembers running requests with their last note, 50 ms behind", async () => {
  const now = open();
  now.note(entry("r1"));
  now.note(entry("r2"));
  expect(await remainsAfterKill()).toEqual({ charges: [], running: [] });
  await clock.advance(50);
  now.note(entry("r1", 256));
  now.forget(entry("r2"));
  await clock.advance(50);
  expect(await remainsAfterKill()).toEqual({ charges: [], running: [entry("r1", 256)] });
});

test("writes nothing for what came and went between two flushes", async () => {
  const now = open();
  now.note(entry("r1"));
  now.forget(entry("r1"));
  await clock.advance(1000);
  expect(statSync(file()).size).toBe(0);
});

test("a promise is on the disk when it resolves, and counts more than a note", async () => {
  const now = open();
  now.note(entry("r1", 3));
  expect(await now.promise([charge("r1"), charge("r2")])).toBe(true);
  expect(await remainsAfterKill()).toEqual({ charges: [charge("r1"), charge("r2")], running: [] });
  now.forget(entry("r1"));
  await clock.advance(50);
  expect(await remainsAfterKill()).toEqual({ charges: [charge("r2")], running: [] });
});

test.each([2, 9, 10, 60])("tolerates a tail torn %i bytes before its end", async (cut) => {
  const now = open();
  now.note(entry("r1"));
  await clock.advance(50);
  const whole = readFileSync(file()).length;
  now.note(entry("r2"));
  await clock.advance(50);
  const bytes = readFileSync(file());
  expect(bytes.length).toBeGreaterThan(whole + cut);
  await now.close();
  writeFileSync(file(), bytes.subarray(0, bytes.length - cut));
  const next = open();
  expect((await next.read()).running).toEqual([entry("r1")]);
  next.note(entry("r3"));
  await clock.advance(50);
  expect((await remainsAfterKill()).running).toEqual([entry("r1"), entry("r3")]);
});

test("a rotten line in the middle costs only itself", async () => {
  const lines = [encode([{ note: entry("r1") }]), encode([{ note: entry("r2") }]), encode([{ note: entry("r3") }])];
  const rotten = `${lines[0]}${lines[1]?.replace("r2", "rX")}${lines[2]}`;
  expect(decode(rotten)).toEqual([{ note: entry("r1") }, { note: entry("r3") }]);
  expect(decode(`${lines[0]}\u0000\u0000\u0000`)).toEqual([{ note: entry("r1") }]);
});

test("a place keeps its core's name, and a second opener takes the next place", async () => {
  const first = open();
  const second = openJournal(directory, { clock, random: systemRandom, logger });
  expect(second.coreId).not.toBe(first.coreId);
  await first.close();
  expect(open().coreId).toBe(first.coreId);
  await second.close();
});

test("a large file is rewritten with what still counts", async () => {
  const now = open();
  now.note(entry("kept"));
  await clock.advance(50);
  const padding = encode([{ forget: "x".repeat(1000) }]);
  appendFileSync(file(), padding.repeat(17_000));
  await now.close();
  const next = open();
  expect(statSync(file()).size).toBeLessThan(1000);
  expect((await next.read()).running).toEqual([entry("kept")]);
});

test("a full disk makes it unhealthy until there is room, and nothing is lost meanwhile", async () => {
  let text = "";
  let full = false;
  const disk = {
    get size() {
      return text.length;
    },
    read: () => text,
    append(more: string) {
      if (full && more !== "") throw new Error("ENOSPC");
      text += more;
    },
    sync: async () => {},
    replace(all: string) {
      text = all;
    },
    close: nothing,
  };
  const now = new FileJournal(disk, { clock, logger, coreId: "core", unlock: nothing });
  now.note(entry("r1"));
  await clock.advance(50);
  full = true;
  now.note(entry("r2"));
  await clock.advance(50);
  expect(now.healthy).toBe(false);
  expect(await now.promise([charge("r3")])).toBe(false);
  full = false;
  await clock.advance(1000);
  expect(now.healthy).toBe(true);
  expect(decode(text)).toEqual([{ note: entry("r1") }, { note: entry("r2") }]);
});
