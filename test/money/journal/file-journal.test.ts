import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Disk, systemDisk } from "#src/money/journal/disk.ts";
import { FileJournal } from "#src/money/journal/file-journal.ts";
import { DiskFile, type JournalFile } from "#src/money/journal/journal-file.ts";
import { encode, type JournalRecord } from "#src/money/journal/journal-record.ts";
import { charge, coreName, decode, entry, JournalDirectory, thisDatabase } from "./journal-directory.ts";

let journals: JournalDirectory;
beforeEach(() => {
  journals = new JournalDirectory();
});
afterEach(() => journals.remove());

const nothing = () => {};

test("remembers running requests with their last note, 50 ms behind", async () => {
  const now = journals.open();
  now.note(entry("r1"));
  now.note(entry("r2"));
  expect(await journals.remainsAfterKill()).toEqual({ epoch: 0, charges: [], running: [] });
  await journals.clock.advanceAsync(50);
  now.note(entry("r1", 256));
  now.forget(entry("r2"));
  await journals.clock.advanceAsync(50);
  expect(await journals.remainsAfterKill()).toEqual({ epoch: 0, charges: [], running: [entry("r1", 256)] });
});

test("writes nothing for what came and went between two flushes", async () => {
  const now = journals.open();
  now.note(entry("r1"));
  now.forget(entry("r1"));
  await journals.clock.advanceAsync(1000);
  expect(statSync(journals.file).size).toBe(0);
});

test("a promise is on the disk when it resolves, and counts more than a note", async () => {
  const now = journals.open();
  now.note(entry("r1", 3));
  expect(await now.promise([charge("r1"), charge("r2")])).toBe(true);
  expect(await journals.remainsAfterKill()).toEqual({ epoch: 0, charges: [charge("r1"), charge("r2")], running: [] });
  now.forget(entry("r1"));
  await journals.clock.advanceAsync(50);
  expect(await journals.remainsAfterKill()).toEqual({ epoch: 0, charges: [charge("r2")], running: [] });
});

test.each([2, 9, 10, 60])("tolerates a tail torn %i bytes before its end", async (cut) => {
  const now = journals.open();
  now.note(entry("r1"));
  await journals.clock.advanceAsync(50);
  const whole = readFileSync(journals.file).length;
  now.note(entry("r2"));
  await journals.clock.advanceAsync(50);
  const bytes = readFileSync(journals.file);
  expect(bytes.length).toBeGreaterThan(whole + cut);
  await now.close();
  writeFileSync(journals.file, bytes.subarray(0, bytes.length - cut));
  const next = journals.open();
  expect((await next.read(thisDatabase)).running).toEqual([entry("r1")]);
  next.note(entry("r3"));
  await journals.clock.advanceAsync(50);
  expect((await journals.remainsAfterKill()).running).toEqual([entry("r1"), entry("r3")]);
});

test("a rotten line in the middle costs only itself", async () => {
  const lines = [encode([{ note: entry("r1") }]), encode([{ note: entry("r2") }]), encode([{ note: entry("r3") }])];
  const rotten = `${lines[0]}${lines[1]?.replace("r2", "rX")}${lines[2]}`;
  expect(decode(rotten).records).toEqual([{ note: entry("r1") }, { note: entry("r3") }]);
  expect(decode(rotten).unusable.map((line) => `${Buffer.from(line)}\n`)).toEqual([lines[1]?.replace("r2", "rX")]);
  const torn = decode(`${lines[0]}\u0000\u0000\u0000`);
  expect(torn).toMatchObject({ records: [{ note: entry("r1") }], unusable: [], torn: true });
});

test("a closed journal asks its disk nothing, whatever comes late and although its last rewrite failed", async () => {
  const now = journals.open();
  const other = journals.open();
  now.note(entry("r1"));
  renameSync(journals.file, `${journals.file}.moved`);
  await now.close();
  await now.close();
  await other.close();
  const late = join(dirname(journals.file), "late");
  const descriptors = [openSync(late, "w+"), openSync(late, "r"), openSync(late, "r"), openSync(late, "r")];
  writeFileSync(late, "not the journal's");
  now.note(entry("r2"));
  now.forget(entry("r1"));
  expect(await now.promise([charge("r1")])).toBe(false);
  await journals.clock.advanceAsync(60_000);
  expect(readFileSync(late, "utf8")).toBe("not the journal's");
  descriptors.map((descriptor) => closeSync(descriptor));
});

test("a place keeps its core's name, and a second opener takes the next place", async () => {
  const first = journals.open();
  const second = journals.open();
  expect(second.coreId).not.toBe(first.coreId);
  await first.close();
  expect(journals.open().coreId).toBe(first.coreId);
  await second.close();
});

test("a large file is rewritten with what still counts", async () => {
  const now = journals.open();
  now.note(entry("kept"));
  await journals.clock.advanceAsync(50);
  const padding = encode([{ forget: "x".repeat(1000) }]);
  appendFileSync(journals.file, padding.repeat(17_000));
  await now.close();
  const next = journals.open();
  expect(statSync(journals.file).size).toBeLessThan(1000);
  expect((await next.read(thisDatabase)).running).toEqual([entry("kept")]);
});

test("a large file whose records all count is not rewritten before it has doubled, and then with what still counts", async () => {
  const now = journals.open();
  const size = () => statSync(journals.file).size;
  const promised = (name: string) =>
    Array.from({ length: 20_000 }, (_, at) => ({ ...charge(`${name}${at}`), model: "x".repeat(1000) }));
  const flush = (outputTokens: number) => {
    now.note(entry("r", outputTokens));
    return journals.clock.advanceAsync(50);
  };
  const early = promised("early");
  await now.promise(early);
  await flush(1); // they all count, and are written anew
  const kept = size();
  expect(kept).toBeGreaterThan(16 * 1024 * 1024);
  await flush(2);
  const line = size() - kept;
  await flush(3);
  expect(size()).toBe(kept + 2 * line);
  for (const { requestId, runId } of early) {
    now.forget({ requestId, runId });
  }
  await now.promise(promised("later"));
  expect(size()).toBeGreaterThan(1.9 * kept);
  await flush(4);
  expect(size()).toBeLessThan(1.1 * kept);
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
  const now = new FileJournal(disk, { ...journals.parts, coreId: coreName, content: decode(""), unlock: nothing });
  now.note(entry("r1"));
  await journals.clock.advanceAsync(50);
  full = true;
  now.note(entry("r2"));
  await journals.clock.advanceAsync(50);
  expect(now.healthy).toBe(false);
  expect(await now.promise([charge("r3")])).toBe(false);
  full = false;
  await journals.clock.advanceAsync(1000);
  expect(now.healthy).toBe(true);
  expect(decode(text).records).toEqual([{ note: entry("r1") }, { note: entry("r2") }]);
  for (let times = 0; times < 5; times++) {
    full = true; // what was free is used up again
    expect(await now.promise([charge("r4")])).toBe(false);
    full = false;
    await journals.clock.advanceAsync(1000);
    expect(now.healthy).toBe(true);
  }
  expect(journals.log.filter((line) => line.includes("the journal cannot be written"))).toHaveLength(1);
  await journals.clock.advanceAsync(10_000);
  now.note(entry("r5"));
  await journals.clock.advanceAsync(50);
  full = true;
  expect(await now.promise([charge("r6")])).toBe(false);
  expect(journals.log.filter((line) => line.includes("the journal cannot be written"))).toHaveLength(2);
});

test("a full disk is full until it takes something, also once nothing is due any more", async () => {
  let room = 100; // in the last block of the file: less than a note takes
  const disk: Disk = {
    ...systemDisk,
    writeSync(descriptor, bytes, offset) {
      const written = systemDisk.writeSync(descriptor, bytes.subarray(0, offset + room), offset);
      room -= written;
      if (written === 0 && bytes.length > 0) {
        throw Object.assign(new Error("no space is left"), { code: "ENOSPC" });
      }
      return written;
    },
    ftruncateSync(descriptor, length) {
      room += fstatSync(descriptor).size - length;
      systemDisk.ftruncateSync(descriptor, length);
    },
  };
  const file = new DiskFile(journals.file, disk);
  const now = new FileJournal(file, { ...journals.parts, coreId: coreName, content: decode(""), unlock: nothing });
  now.note(entry("r1"));
  await journals.clock.advanceAsync(50);
  expect(now.healthy).toBe(false);
  now.forget(entry("r1")); // it ends, and its note is due no longer
  await journals.clock.advanceAsync(5000);
  expect(now.healthy).toBe(false);
  room = 1_000_000;
  await journals.clock.advanceAsync(1000);
  expect(now.healthy).toBe(true);
  now.note(entry("r2"));
  await journals.clock.advanceAsync(50);
  const kept = decode(readFileSync(journals.file));
  expect(kept).toMatchObject({ records: [{ note: entry("r2") }], unusable: [], headDamaged: false, torn: false });
  await now.close();
});

test("a moved journal keeps no promise, and is unhealthy until it is back", async () => {
  const now = journals.open();
  renameSync(journals.file, `${journals.file}.moved`);
  expect(await now.promise([charge("r1")])).toBe(false);
  expect(now.healthy).toBe(false);
  const again = now.promise([charge("r1")]);
  expect(now.healthy).toBe(false);
  expect(await again).toBe(false);
  renameSync(`${journals.file}.moved`, journals.file);
  await journals.clock.advanceAsync(1000);
  expect(now.healthy).toBe(true);
  expect(await now.promise([charge("r1")])).toBe(true);
  expect(await journals.remainsAfterKill()).toEqual({ epoch: 0, charges: [charge("r1")], running: [] });
});

describe("what it cannot read", () => {
  const aside = () => readFileSync(`${journals.file}.aside`);
  const lines = (...records: JournalRecord[]) => records.map((record) => encode([record]));

  test("damaged lines are counted, told and kept aside byte for byte; the rest is read", async () => {
    const [first = "", second = "", third = ""] = lines(
      { note: entry("r1") },
      { promise: charge("r2") },
      { note: entry("r3") },
    );
    const rotten = Buffer.from(second);
    rotten[20] = 0xff;
    writeFileSync(journals.file, Buffer.concat([Buffer.from(first), rotten, Buffer.from(third)]));
    const now = journals.open();
    expect((await now.read(thisDatabase)).running).toEqual([entry("r1"), entry("r3")]);
    expect(now.setAside).toBe(1);
    expect(journals.log).toEqual(["damaged records of the journal were not charged and are kept aside"]);
    expect(aside()).toEqual(rotten);
    expect(decode(readFileSync(journals.file)).unusable).toEqual([]);
    await now.close();
    writeFileSync(journals.file, Buffer.concat([readFileSync(journals.file), rotten]));
    expect(journals.open().setAside).toBe(1); // the same again is kept once
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
    writeFileSync(journals.file, encode([{ note: entry("r1") }, record, { note: entry("r3") }]));
    const now = journals.open();
    expect((await now.read(thisDatabase)).running).toEqual([entry("r1"), entry("r3")]);
    expect(aside().toString()).toBe(encode([record]));
  });

  test("whole lines that are no list of records are kept aside", async () => {
    const line = (json: string) => `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
    const odd = ['{"note":1}', "no json", "[".repeat(1_000_000)].map(line);
    writeFileSync(journals.file, [encode([{ note: entry("r1") }]), ...odd].join(""));
    expect((await journals.open().read(thisDatabase)).running).toEqual([entry("r1")]);
    expect(aside().toString()).toBe(odd.join(""));
  });

  test.each<[string, object]>([
    ["a kind of record", { reserve: { requestId: "r2" } }],
    ["a header", { header: { format: 2, anything: true } }],
  ])("%s of a later version stops the start and loses nothing", async (_, later) => {
    const text = encode([later as JournalRecord]) + encode([{ note: entry("r1") }]);
    writeFileSync(journals.file, text);
    expect(() => journals.open()).toThrow("was written by a newer tollgate");
    expect(readFileSync(journals.file, "utf8")).toBe(text);
  });

  test("while nothing can be kept aside the file stays as it is, and nothing is added to its torn end", async () => {
    const text = `${encode([{ note: entry("r1") }])}rotten\ntorn`;
    writeFileSync(journals.file, text);
    const disk = new DiskFile(journals.file);
    disk.keepAside = () => {
      throw new Error("ENOSPC");
    };
    const now = new FileJournal(disk, { ...journals.parts, coreId: coreName, content: decode(text), unlock: nothing });
    expect(now.setAside).toBe(1);
    now.begin({ databaseId: thisDatabase, epoch: 1 });
    now.note(entry("r2"));
    await journals.clock.advanceAsync(50);
    await now.close();
    const kept = decode(readFileSync(journals.file));
    expect(kept.records).toEqual([{ note: entry("r1") }, { note: entry("r2") }]);
    expect(kept.unusable.map(String).length).toBe(2);
    expect(kept.owner).toMatchObject({ epoch: 1 });
  });
});
