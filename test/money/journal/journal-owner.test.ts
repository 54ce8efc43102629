import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { encode, encodeHeader } from "#src/money/journal/journal-record.ts";
import { charge, coreName, decode, entry, JournalDirectory, thisDatabase } from "./journal-directory.ts";

let journals: JournalDirectory;
beforeEach(() => {
  journals = new JournalDirectory();
});
afterEach(() => journals.remove());

const owner = { databaseId: thisDatabase, coreId: coreName, epoch: 7 };
const other = "00000000-0000-4000-8000-0000000000ff";
const write = (...lines: string[]) => writeFileSync(journals.file, lines.join(""));

test("it says so from the start on, and knows the last epoch of its core", async () => {
  const first = journals.open();
  first.begin({ databaseId: thisDatabase, epoch: 3 });
  expect(readFileSync(journals.file, "utf8")).toBe(encodeHeader({ ...owner, epoch: 3 }));
  first.note(entry("r1"));
  await first.close();
  const next = journals.open();
  expect(await next.read(thisDatabase)).toEqual({ epoch: 3, charges: [], running: [entry("r1")] });
  next.begin({ databaseId: thisDatabase, epoch: 4 });
  await next.close();
  expect(await journals.open().read(thisDatabase)).toEqual({ epoch: 4, charges: [], running: [entry("r1")] });
});

test.each([
  ["another database", { ...owner, databaseId: other }],
  ["another core", { ...owner, coreId: other }],
])("unfinished business of %s is refused, with both names and what to do", async (_, stranger) => {
  write(encodeHeader(stranger), encode([{ note: entry("r1") }]), encode([{ promise: charge("r2") }]));
  const refused = journals.open().read(thisDatabase);
  await expect(refused).rejects.toThrow(`belongs to core ${stranger.coreId} on database ${stranger.databaseId}`);
  await expect(refused).rejects.toThrow(`this is core ${coreName} on database ${thisDatabase}`);
  await expect(refused).rejects.toThrow("start it where its 2 unfinished requests were run, or move it away");
  expect(decode(readFileSync(journals.file)).records).toHaveLength(2);
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
    const now = journals.open();
    expect(await now.read(thisDatabase)).toEqual({ epoch: 0, charges: [], running: [] });
    expect(now.setAside).toBe(3);
    expect(journals.log[0]).toContain("says whose the journal is is damaged: its unfinished requests are kept aside");
    expect(readFileSync(`${journals.file}.aside`, "utf8").split("\n").toSorted()).toEqual(
      [rotten, ...unfinished, ""].map((line) => line.trimEnd()).toSorted(),
    );
    now.begin({ databaseId: thisDatabase, epoch: 1 });
    now.note(entry("r4"));
    await now.close();
    expect((await journals.open().read(thisDatabase)).running).toEqual([entry("r4")]);
  },
);

test("a later line about it is as good as a damaged first one", async () => {
  write("12345678 []\n", encodeHeader(owner), encode([{ note: entry("r1") }]));
  expect((await journals.open().read(thisDatabase)).running).toEqual([entry("r1")]);
});

test("nothing unfinished is anybody's", async () => {
  write(
    encodeHeader({ ...owner, databaseId: other }),
    encode([{ note: entry("r1") }]),
    encode([{ forget: "run of r1" }]),
  );
  const now = journals.open();
  expect(await now.read(thisDatabase)).toEqual({ epoch: 0, charges: [], running: [] });
  now.begin({ databaseId: thisDatabase, epoch: 1 });
  expect(decode(readFileSync(journals.file)).owner).toEqual({ ...owner, epoch: 1 });
});

test.each([
  ["missing", undefined],
  ["empty", ""],
  ["no id", "core one\n"],
])("a core-id file that is %s is made anew from the journal", async (_, text) => {
  const idFile = journals.idFile;
  rmSync(idFile);
  if (text !== undefined) {
    writeFileSync(idFile, text);
  }
  write(encodeHeader({ ...owner, coreId: other }), encode([{ note: entry("r1") }]));
  expect(journals.open().coreId).toBe(other);
  expect(readFileSync(idFile, "utf8")).toBe(`${other}\n`);
  expect(journals.log).toEqual(["the file with the core's id was damaged and is made anew"]);
});

test.each([
  ["missing", undefined],
  ["empty", ""],
])(
  "with a core-id file that is %s and a journal that names nobody, unfinished business stops the start",
  async (_, text) => {
    const idFile = journals.idFile;
    rmSync(idFile);
    if (text !== undefined) {
      writeFileSync(idFile, text);
    }
    write(encode([{ note: entry("r1") }]));
    expect(() => journals.open()).toThrow("put the core's id back");
    write("");
    expect(journals.open().coreId).toMatch(/^[0-9a-f-]{36}$/);
  },
);
