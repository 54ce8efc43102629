import { randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { entryBytes, hashOf, readBlock, readLayout, trailerBytes } from "#src/money/retention/archive-format.ts";
import { ArchiveIndex } from "#src/money/retention/archive-index.ts";

/** An archive of so many blocks of a line, each with so many request ids. */
async function write(blocks: number, ids: number) {
  const index = new ArchiveIndex();
  const parts: Buffer[] = [];
  let offset = 0;
  const all: string[][] = [];
  for (let at = 0; at < blocks; at++) {
    const content = gzipSync(`line ${at}\n`);
    const block = Array.from({ length: ids }, () => randomUUID());
    index.add({ offset, length: content.length, newestMs: 2 ** 41 - at }, block);
    all.push(block);
    parts.push(content);
    offset += content.length;
  }
  for await (const part of index.finish(offset, async () => {})) {
    parts.push(part);
  }
  return { file: Buffer.concat(parts), all };
}

test.each([
  [0, 0],
  [1, 1],
  [300, 60],
  [4100, 2],
  [8191, 1],
])("an archive of %i blocks of %i requests is a gzip file, and its index names each block", async (blocks, ids) => {
  const { file, all } = await write(blocks, ids);
  expect(gunzipSync(file).toString()).toBe(all.map((_, at) => `line ${at}\n`).join(""));
  const layout = readLayout(file.subarray(file.length - trailerBytes));
  expect(layout).toMatchObject({ entries: blocks * ids, blocks });
  const entries = Array.from({ length: blocks * ids }, (_, place) => {
    const at = layout?.entryAt(place) ?? 0;
    return file.subarray(at, at + entryBytes).toString("hex");
  });
  expect(entries).toEqual(entries.toSorted());
  const rows = all.map((_, number) => readBlock(file.subarray(layout?.blockAt(number))));
  expect(rows.map(({ newestMs }) => newestMs)).toEqual(all.map((_, number) => 2 ** 41 - number));
  const read = rows.map(({ offset, length }) => gunzipSync(file.subarray(offset, offset + length)).toString());
  expect(read).toEqual(all.map((_, number) => `line ${number}\n`));
  const written = all.flatMap((block, number) =>
    block.map((id) => hashOf(id).toString("hex") + number.toString(16).padStart(6, "0")),
  );
  expect(entries).toEqual(written.toSorted());
});

test("a file without an index is recognized", () => {
  expect(readLayout(gzipSync("x".repeat(1000)).subarray(-trailerBytes))).toBeUndefined();
  expect(readLayout(Buffer.alloc(trailerBytes))).toBeUndefined();
});
