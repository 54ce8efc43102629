import { randomBytes, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { ArchiveIndex } from "#src/money/retention/archive-index.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { archiveBucket } from "#src/money/retention/s3/archive-bucket.ts";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { type S3Server, startS3 } from "../../../../scripts/test-services/s3.ts";
import { Relay } from "./relay.ts";

let s3: S3Server;
let relay: Relay;

beforeAll(async () => {
  s3 = await startS3("archives");
  relay = await Relay.start(s3.endpoint);
}, 60_000);
afterAll(async () => {
  relay.close();
  await s3.stop();
});
beforeEach(() => {
  relay.asked = [];
});

function place() {
  const { accessKeyId, secretAccessKey } = s3;
  const options = { region: "us-east-1", bucket: "archives", prefix: "", accessKeyId, secretAccessKey };
  return archiveBucket({ endpoint: relay.endpoint, ...options });
}

/** Writes a day of 100,000 requests, of 7 MB. */
async function writeDay(day: number): Promise<{ archive: ReceiptArchive; ids: string[][] }> {
  const index = new ArchiveIndex();
  const file = await place().create(`${day}.gz`);
  const ids: string[][] = [];
  let offset = 0;
  for (let at = 0; at < 2000; at++) {
    const content = gzipSync(`${randomBytes(3000).toString("base64")}\nblock ${at}\n`);
    const block = Array.from({ length: 50 }, () => randomUUID());
    index.add({ offset, length: content.length, newestMs: 2 ** 41 - at }, block);
    ids.push(block);
    offset += content.length;
    await file.write(content);
  }
  for await (const part of index.finish(offset, async () => {})) {
    await file.write(part);
  }
  const written = { file: `${day}.gz`, ...(await file.finish()), at: new Date() };
  return { archive: { day, receipts: 100_000, costHigh: 0, costLow: 0, mark: null, ...written }, ids };
}

/** The ranges that were asked for, by their objects, without single bytes. */
function ranges() {
  return relay.asked
    .map(({ what, range }) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
      return { file: what.slice(what.lastIndexOf("/") + 1), from: Number(from), bytes: Number(to) - Number(from) + 1 };
    })
    .filter(({ bytes }) => bytes > 1);
}

test("a day's object is read whole once, in pieces, one object at a time, for all who ask for it meanwhile", async () => {
  const days = [await writeDay(1), await writeDay(2)];
  const reader = new ArchiveReader(place());
  relay.asked = [];
  const asked = [...days, ...days, ...days];
  await Promise.all(asked.map(async ({ archive }) => (await reader.open(archive)).close()));
  const largest = Math.max(...ranges().map(({ bytes }) => bytes));
  expect(largest).toBe(2 * 2 ** 20);
  const whole = days.reduce((sum, { archive }) => sum + archive.bytes, 0);
  const ends = ranges().reduce((sum, { bytes }) => sum + bytes, 0) - whole;
  expect(ends).toBeGreaterThan(0);
  expect(ends).toBeLessThanOrEqual(asked.length * 256 * 1024);
  const large = ranges()
    .filter(({ bytes }) => bytes === largest)
    .map(({ file }) => file);
  expect(large).toEqual(large.toSorted((a, b) => Number(a !== large[0]) - Number(b !== large[0])));
  relay.asked = [];
  await (await reader.open(days[0]?.archive as ReceiptArchive)).close();
  expect(ranges()).toHaveLength(1);
});

test("one receipt of a hundred thousand is found by a few small ranges", async () => {
  const { archive, ids } = await writeDay(3);
  const reader = new ArchiveReader(place());
  await reader.compare(archive);
  for (let at = 0; at < 20; at++) {
    relay.asked = [];
    const open = await reader.open(archive);
    const block = (at * 101) % ids.length;
    const found = await open.find(ids[block]?.[at] ?? "");
    expect(found).toContain(block);
    expect((await open.lines(block)).at(-1)).toBe(`block ${block}`);
    expect(await open.find(randomUUID())).toEqual([]);
    await open.close();
    expect(ranges().length).toBeLessThanOrEqual(8);
    expect(Math.max(...ranges().map(({ bytes }) => bytes))).toBeLessThanOrEqual(256 * 1024);
  }
});

test("after a start an object is read whole only if it is another than the one whose receipts left", async () => {
  const { archive, ids } = await writeDay(4);
  const mark = await new ArchiveReader(place()).compare(archive);
  const open = async () => {
    relay.asked = [];
    const opened = await new ArchiveReader(place()).open({ ...archive, mark });
    expect(await opened.find(ids[7]?.[7] ?? "")).toContain(7);
    await opened.close();
  };
  await open();
  expect(Math.max(...ranges().map(({ bytes }) => bytes))).toBeLessThanOrEqual(256 * 1024);
  const other = await place().create(archive.file);
  await other.write(randomBytes(archive.bytes));
  await other.finish();
  await expect(open()).rejects.toThrow("The archive of 1970-01-05 is not the one that was written");
});
