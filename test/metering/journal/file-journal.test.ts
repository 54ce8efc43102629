import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { explainDiskFault } from "../../../lib/errors/disk-faults.ts";
import { systemRandom } from "../../../lib/ids/random.ts";
import { type CoreJournal, FileJournal } from "../../../src/metering/journal/file-journal.ts";
import { DiskFile, type JournalFile } from "../../../src/metering/journal/journal-file.ts";
import {
  decode as decodeBytes,
  encode,
  encodeHeader,
  type JournalRecord,
} from "../../../src/metering/journal/journal-record.ts";
import { openJournal } from "../../../src/metering/journal/open-journal.ts";
import { firstRun } from "../../../src/metering/ledger/run.ts";
import type { Charge } from "../../../src/metering/ledger/settlement/charge.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

let directory: string;
let clock: ManualClock;
let journal: CoreJournal | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
  clock = new ManualClock(Date.now());
  log = [];
  mkdirSync(join(directory, "1"));
  writeFileSync(join(directory, "1", "core-id"), `${coreName}\n`);
});
afterEach(async () => {
  await journal?.close();
  journal = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const thisDatabase = "00000000-0000-4000-8000-00000000000d";
const coreName = "00000000-0000-4000-8000-00000000000c";
const nothing = () => {};
let log: string[];
const say = (_fields: object, message: string) => void log.push(message);
const logger = { debug: nothing, info: nothing, warn: say, error: say };
const decode = (text: string | Uint8Array) => decodeBytes(Buffer.from(text as string));
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
  for (const name of ["journal", "core-id"]) {
    writeFileSync(join(copy, "1", name), readFileSync(join(directory, "1", name)));
  }
  const next = openJournal(copy, { clock, random: systemRandom, logger });
  const remains = await next.read(thisDatabase);
  await next.close();
  rmSync(copy, { recursive: true });
  return remains;
};

test("reads what a version without run ids has written", async () => {
  const { runId: _of, ...note } = entry("r1", 5);
  const { runId: _too, ...promise } = charge("r2");
  const lines = [{ note }, { promise }, { note: { ...note, requestId: "r3" } }, { forget: "r3" }];
  writeFileSync(file(), lines.map((record) => encode([record as JournalRecord])).join(""));
  const now = open();
  expect(await now.read(thisDatabase)).toEqual({
    epoch: 0,
    charges: [{ ...promise, runId: firstRun }],
    running: [{ ...note, runId: firstRun }],
  });
  now.forget({ requestId: "r1", runId: firstRun });
  await clock.advanceAsync(50);
  expect((await remainsAfterKill()).running).toEqual([]);
});

test("remembers running requests with their last note, 50 ms behind", async () => {
  const now = open();
  now.note(entry("r1"));
  now.note(entry("r2"));
  expect(await remainsAfterKill()).toEqual({ epoch: 0, charges: [], running: [] });
  await clock.advanceAsync(50);
  now.note(entry("r1", 256));
  now.forget(entry("r2"));
  await clock.advanceAsync(50);
  expect(await remainsAfterKill()).toEqual({ epoch: 0, charges: [], running: [entry("r1", 256)] });
});

test("writes nothing for what came and went between two flushes", async () => {
  const now = open();
  now.note(entry("r1"));
  now.forget(entry("r1"));
  await clock.advanceAsync(1000);
  expect(statSync(file()).size).toBe(0);
});

test("a promise is on the disk when it resolves, and counts more than a note", async () => {
  const now = open();
  now.note(entry("r1", 3));
  expect(await now.promise([charge("r1"), charge("r2")])).toBe(true);
  expect(await remainsAfterKill()).toEqual({ epoch: 0, charges: [charge("r1"), charge("r2")], running: [] });
  now.forget(entry("r1"));
  await clock.advanceAsync(50);
  expect(await remainsAfterKill()).toEqual({ epoch: 0, charges: [charge("r2")], running: [] });
});

test.each([2, 9, 10, 60])("tolerates a tail torn %i bytes before its end", async (cut) => {
  const now = open();
  now.note(entry("r1"));
  await clock.advanceAsync(50);
  const whole = readFileSync(file()).length;
  now.note(entry("r2"));
  await clock.advanceAsync(50);
  const bytes = readFileSync(file());
  expect(bytes.length).toBeGreaterThan(whole + cut);
  await now.close();
  writeFileSync(file(), bytes.subarray(0, bytes.length - cut));
  const next = open();
  expect((await next.read(thisDatabase)).running).toEqual([entry("r1")]);
  next.note(entry("r3"));
  await clock.advanceAsync(50);
  expect((await remainsAfterKill()).running).toEqual([entry("r1"), entry("r3")]);
});

test("a rotten line in the middle costs only itself", async () => {
  const lines = [encode([{ note: entry("r1") }]), encode([{ note: entry("r2") }]), encode([{ note: entry("r3") }])];
  const rotten = `${lines[0]}${lines[1]?.replace("r2", "rX")}${lines[2]}`;
  expect(decode(rotten).records).toEqual([{ note: entry("r1") }, { note: entry("r3") }]);
  expect(decode(rotten).unusable.map((line) => `${Buffer.from(line)}\n`)).toEqual([lines[1]?.replace("r2", "rX")]);
  const torn = decode(`${lines[0]}\u0000\u0000\u0000`);
  expect(torn).toMatchObject({ records: [{ note: entry("r1") }], unusable: [], torn: true });
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
  await clock.advanceAsync(50);
  const padding = encode([{ forget: "x".repeat(1000) }]);
  appendFileSync(file(), padding.repeat(17_000));
  await now.close();
  const next = open();
  expect(statSync(file()).size).toBeLessThan(1000);
  expect((await next.read(thisDatabase)).running).toEqual([entry("kept")]);
});

test("a full disk makes it unhealthy until there is room, and nothing is lost meanwhile", async () => {
  let text = "";
  let full = false;
  const disk: JournalFile = {
    path: "the journal",
    get size() {
      return text.length;
    },
    read: () => Buffer.from(text),
    append(more: string) {
      if (full && more !== "") {
        throw new Error("ENOSPC");
      }
      text += more;
    },
    gather: async () => {},
    sync: async () => {},
    replace(all: string) {
      text = all;
    },
    setAside: 0,
    keepAside: nothing,
    close: nothing,
  };
  const now = new FileJournal(disk, { clock, logger, coreId: coreName, content: decode(""), unlock: nothing });
  now.note(entry("r1"));
  await clock.advanceAsync(50);
  full = true;
  now.note(entry("r2"));
  await clock.advanceAsync(50);
  expect(now.healthy).toBe(false);
  expect(await now.promise([charge("r3")])).toBe(false);
  full = false;
  await clock.advanceAsync(1000);
  expect(now.healthy).toBe(true);
  expect(decode(text).records).toEqual([{ note: entry("r1") }, { note: entry("r2") }]);
});

describe("whose it is", () => {
  const owner = { databaseId: thisDatabase, coreId: coreName, epoch: 7 };
  const other = "00000000-0000-4000-8000-0000000000ff";
  const write = (...lines: string[]) => writeFileSync(file(), lines.join(""));

  test("it says so from the start on, and knows the last epoch of its core", async () => {
    const first = open();
    first.begin({ databaseId: thisDatabase, epoch: 3 });
    expect(readFileSync(file(), "utf8")).toBe(encodeHeader({ ...owner, epoch: 3 }));
    first.note(entry("r1"));
    await first.close();
    const next = open();
    expect(await next.read(thisDatabase)).toEqual({ epoch: 3, charges: [], running: [entry("r1")] });
    next.begin({ databaseId: thisDatabase, epoch: 4 });
    await next.close();
    expect(await open().read(thisDatabase)).toEqual({ epoch: 4, charges: [], running: [entry("r1")] });
  });

  test.each([
    ["another database", { ...owner, databaseId: other }],
    ["another core", { ...owner, coreId: other }],
  ])("unfinished business of %s is refused, with both names and what to do", async (_, stranger) => {
    write(encodeHeader(stranger), encode([{ note: entry("r1") }]), encode([{ promise: charge("r2") }]));
    const refused = open().read(thisDatabase);
    await expect(refused).rejects.toThrow(`belongs to core ${stranger.coreId} on database ${stranger.databaseId}`);
    await expect(refused).rejects.toThrow(`this is core ${coreName} on database ${thisDatabase}`);
    await expect(refused).rejects.toThrow("start it where its 2 unfinished requests were run, or move it away");
    expect(decode(readFileSync(file())).records).toHaveLength(2);
  });

  test.each([
    ["this database", thisDatabase],
    ["another database", other],
  ])(
    "with a damaged line about it, which spoke of %s, unfinished business is kept aside and charged nowhere",
    async (_, databaseId) => {
      const header = encodeHeader({ ...owner, databaseId });
      const rotten = `${header.slice(0, 40)}#${header.slice(41)}`;
      const unfinished = [encode([{ note: entry("r1") }]), encode([{ promise: charge("r2") }])];
      write(rotten, ...unfinished, encode([{ note: entry("r3") }]), encode([{ forget: "run of r3" }]));
      const now = open();
      expect(await now.read(thisDatabase)).toEqual({ epoch: 0, charges: [], running: [] });
      expect(now.setAside).toBe(3);
      expect(log[0]).toContain("says whose the journal is is damaged: its unfinished requests are kept aside");
      expect(readFileSync(`${file()}.aside`, "utf8").split("\n").toSorted()).toEqual(
        [rotten, ...unfinished, ""].map((line) => line.trimEnd()).toSorted(),
      );
      now.begin({ databaseId: thisDatabase, epoch: 1 });
      now.note(entry("r4"));
      await now.close();
      expect((await open().read(thisDatabase)).running).toEqual([entry("r4")]);
    },
  );

  test("a later line about it is as good as a damaged first one", async () => {
    write("12345678 []\n", encodeHeader(owner), encode([{ note: entry("r1") }]));
    expect((await open().read(thisDatabase)).running).toEqual([entry("r1")]);
  });

  test("nothing unfinished is anybody's", async () => {
    write(
      encodeHeader({ ...owner, databaseId: other }),
      encode([{ note: entry("r1") }]),
      encode([{ forget: "run of r1" }]),
    );
    const now = open();
    expect(await now.read(thisDatabase)).toEqual({ epoch: 0, charges: [], running: [] });
    now.begin({ databaseId: thisDatabase, epoch: 1 });
    expect(decode(readFileSync(file())).owner).toEqual({ ...owner, epoch: 1 });
  });

  test.each([
    ["missing", undefined],
    ["empty", ""],
    ["no id", "core one\n"],
  ])("a core-id file that is %s is made anew from the journal", async (_, text) => {
    const idFile = join(directory, "1", "core-id");
    rmSync(idFile);
    if (text !== undefined) {
      writeFileSync(idFile, text);
    }
    write(encodeHeader({ ...owner, coreId: other }), encode([{ note: entry("r1") }]));
    expect(open().coreId).toBe(other);
    expect(readFileSync(idFile, "utf8")).toBe(`${other}\n`);
    expect(log).toEqual(["the file with the core's id was damaged and is made anew"]);
  });

  test.each([
    ["missing", undefined],
    ["empty", ""],
  ])(
    "with a core-id file that is %s and a journal that names nobody, unfinished business stops the start",
    async (_, text) => {
      const idFile = join(directory, "1", "core-id");
      rmSync(idFile);
      if (text !== undefined) {
        writeFileSync(idFile, text);
      }
      write(encode([{ note: entry("r1") }]));
      expect(open).toThrow("put the core's id back");
      write("");
      expect(open().coreId).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe("what it cannot read", () => {
  const aside = () => readFileSync(`${file()}.aside`);
  const lines = (...records: JournalRecord[]) => records.map((record) => encode([record]));

  test("damaged lines are counted, told and kept aside byte for byte; the rest is read", async () => {
    const [first = "", second = "", third = ""] = lines(
      { note: entry("r1") },
      { promise: charge("r2") },
      { note: entry("r3") },
    );
    const rotten = Buffer.from(second);
    rotten[20] = 0xff;
    writeFileSync(file(), Buffer.concat([Buffer.from(first), rotten, Buffer.from(third)]));
    const now = open();
    expect((await now.read(thisDatabase)).running).toEqual([entry("r1"), entry("r3")]);
    expect(now.setAside).toBe(1);
    expect(log).toEqual(["damaged records of the journal were not charged and are kept aside"]);
    expect(aside()).toEqual(rotten);
    expect(decode(readFileSync(file())).unusable).toEqual([]);
    await now.close();
    writeFileSync(file(), Buffer.concat([readFileSync(file()), rotten]));
    expect(open().setAside).toBe(1); // the same again is kept once
    expect(aside()).toEqual(rotten);
  });

  test.each<[string, unknown]>([
    ["no object", 5],
    ["null", null],
    ["a list", [1]],
    ["nothing", {}],
    ["two kinds", { note: entry("r2"), forget: "r2" }],
    ["a note of nothing", { note: null }],
    ["a note without tokens", { note: { ...entry("r2"), tokens: undefined } }],
    ["a request's id that is a number", { promise: { ...charge("r2"), requestId: 5 } }],
    ["a run's id that is a number", { note: { ...entry("r2"), runId: 5 } }],
    ["a forgotten number", { forget: 5 }],
    ["a header of nobody", { header: { format: 1 } }],
  ])("a whole record of a wrong shape (%s) is kept aside, and what is beside it is read", async (_, odd) => {
    const record = odd as JournalRecord;
    writeFileSync(file(), encode([{ note: entry("r1") }, record, { note: entry("r3") }]));
    const now = open();
    expect((await now.read(thisDatabase)).running).toEqual([entry("r1"), entry("r3")]);
    expect(aside().toString()).toBe(encode([record]));
  });

  test("whole lines that are no list of records are kept aside", async () => {
    const line = (json: string) => `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
    const odd = ['{"note":1}', "no json", "[".repeat(1_000_000)].map(line);
    writeFileSync(file(), [encode([{ note: entry("r1") }]), ...odd].join(""));
    expect((await open().read(thisDatabase)).running).toEqual([entry("r1")]);
    expect(aside().toString()).toBe(odd.join(""));
  });

  test.each<[string, object]>([
    ["a kind of record", { reserve: { requestId: "r2" } }],
    ["a header", { header: { format: 2, anything: true } }],
  ])("%s of a later version stops the start and loses nothing", async (_, later) => {
    const text = encode([later as JournalRecord]) + encode([{ note: entry("r1") }]);
    writeFileSync(file(), text);
    expect(open).toThrow("was written by a newer tollgate");
    expect(readFileSync(file(), "utf8")).toBe(text);
  });

  test("while nothing can be kept aside the file stays as it is, and nothing is added to its torn end", async () => {
    const text = `${encode([{ note: entry("r1") }])}rotten\ntorn`;
    writeFileSync(file(), text);
    const disk = new DiskFile(file());
    disk.keepAside = () => {
      throw new Error("ENOSPC");
    };
    const now = new FileJournal(disk, { clock, logger, coreId: coreName, content: decode(text), unlock: nothing });
    expect(now.setAside).toBe(1);
    now.begin({ databaseId: thisDatabase, epoch: 1 });
    now.note(entry("r2"));
    await clock.advanceAsync(50);
    await now.close();
    const kept = decode(readFileSync(file()));
    expect(kept.records).toEqual([{ note: entry("r1") }, { note: entry("r2") }]);
    expect(kept.unusable.map(String).length).toBe(2);
    expect(kept.owner).toMatchObject({ epoch: 1 });
  });
});

describe("a disk that does not do", () => {
  const place = () => join(directory, "1");

  test.each<[string, () => void, string]>([
    ["a directory in place of the journal", () => mkdirSync(file()), "journal: a directory is in its place"],
    ["a directory in place of its lock", () => mkdirSync(`${file()}.lock`), "journal: a directory is in its place"],
    ["a directory in place of what is kept aside", () => mkdirSync(`${file()}.aside`), "a directory is in its place"],
    [
      "a directory in place of the core's id",
      () => {
        rmSync(join(place(), "core-id"));
        mkdirSync(join(place(), "core-id"));
      },
      "core-id: a directory is in its place",
    ],
    [
      "a file in place of the directory",
      () => {
        rmSync(place(), { recursive: true });
        writeFileSync(place(), "");
      },
      "a file is where a directory has to be",
    ],
  ])("%s is told with what to do", (_, prepare, message) => {
    prepare();
    expect(open).toThrow(message);
  });

  test.each([
    [{ code: "EACCES" }, "give it to the user that tollgate runs as"],
    [{ code: "ENOSPC" }, "the disk is full"],
    [{ code: "EROFS" }, "the disk is read-only"],
    [{ code: "ERR_SQLITE_ERROR", errcode: 14 }, "give it to the user that tollgate runs as"],
    [{ code: "ERR_SQLITE_ERROR", errcode: 13 }, "the disk is full"],
    [{ code: "ERR_SQLITE_ERROR", errcode: 8 + 256 }, "write-protected"],
  ])("%j is told with what to do", (fields, message) => {
    const error = Object.assign(new Error("it failed"), fields);
    expect(String(explainDiskFault("/data/cores/1/journal", error))).toContain("/data/cores/1/journal: ");
    expect(String(explainDiskFault("/data/cores/1/journal", error))).toContain(message);
  });
});
