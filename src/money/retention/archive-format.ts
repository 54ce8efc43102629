// An archive is a gzip file of lines of JSON, which every tool reads: one member for each block of receipts, newest first.
// Empty members follow, whose extra fields (RFC 1952) carry the index: where a request id is, and where a block begins.

import { createHash } from "node:crypto";

/** Where a block of receipts is in the file, and the time of its newest receipt. */
export interface Block {
  readonly offset: number;
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly newestMs: number;
}

/** Bytes of a member before its extra field's content, and after it. */
const [headBytes, tailBytes] = [16, 10];
/** The index of request ids: 5 bytes of a hash, 3 of a block's number, in order. */
export const entryBytes = 8;
const blockBytes = 16;
/** Whole entries and whole blocks that an extra field takes. */
const entriesOfMember = 8191;
const blocksOfMember = 4095;
const magic = Buffer.from("tollgate");
const trailerContent = magic.length + 4 * 6;
/** The last member says where the others are. */
export const trailerBytes = headBytes + trailerContent + tailBytes;

/** What a request id begins with in the index. */
export function hashOf(requestId: string): Buffer {
  return createHash("sha256").update(requestId).digest().subarray(0, 5);
}

/** A member that decompresses to nothing, with an extra field. */
function toMember(content: Buffer): Buffer {
  const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 0, 0, 0x54, 0x47, 0, 0]);
  head.writeUInt16LE(content.length + 4, 10);
  head.writeUInt16LE(content.length, 14);
  return Buffer.concat([head, content, Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])]);
}

/** The members that end an archive, in small parts. `entries` are in order; `start`: where they begin in the file. */
export function* toIndex(entries: readonly Buffer[], blocks: readonly Block[], start: number): Generator<Buffer> {
  let at = start;
  const count = function* (parts: Iterable<Buffer>, most: number) {
    let waiting: Buffer[] = [];
    let bytes = 0;
    for (const part of parts) {
      waiting.push(part);
      bytes += part.length;
      if (bytes === most) {
        yield toMember(Buffer.concat(waiting));
        [waiting, bytes] = [[], 0];
      }
    }
    if (bytes > 0) {
      yield toMember(Buffer.concat(waiting));
    }
  };
  for (const member of count(entries, entriesOfMember * entryBytes)) {
    at += member.length;
    yield member;
  }
  const table = at;
  for (const member of count(blocks.map(toRow), blocksOfMember * blockBytes)) {
    yield member;
  }
  const trailer = Buffer.alloc(trailerContent);
  magic.copy(trailer);
  for (const [place, value] of [entries.length, blocks.length, start, table].entries()) {
    trailer.writeUIntBE(value, magic.length + 6 * place, 6);
  }
  yield toMember(trailer);
}

function toRow({ offset, length, newestMs }: Block): Buffer {
  const row = Buffer.alloc(blockBytes);
  row.writeUIntBE(offset, 0, 6);
  row.writeUInt32BE(length, 6);
  row.writeUIntBE(newestMs, 10, 6);
  return row;
}

/** Where the parts of an archive are. */
export interface Layout {
  readonly entries: number;
  readonly blocks: number;
  entryAt(place: number): number;
  blockAt(place: number): number;
}

/** Reads the last bytes of an archive. Undefined: it has no index. */
export function readLayout(trailer: Buffer): Layout | undefined {
  const content = trailer.subarray(headBytes);
  if (!content.subarray(0, magic.length).equals(magic)) {
    return undefined;
  }
  const [entries = 0, blocks = 0, start = 0, table = 0] = [0, 1, 2, 3].map((place) =>
    content.readUIntBE(magic.length + 6 * place, 6),
  );
  const placeIn = (from: number, place: number, size: number, ofMember: number) =>
    from +
    Math.floor(place / ofMember) * (headBytes + ofMember * size + tailBytes) +
    headBytes +
    (place % ofMember) * size;
  return {
    entries,
    blocks,
    entryAt: (place) => placeIn(start, place, entryBytes, entriesOfMember),
    blockAt: (place) => placeIn(table, place, blockBytes, blocksOfMember),
  };
}

/** Reads a row of the table of blocks. */
export const readBlock = (row: Buffer): Block => ({
  offset: row.readUIntBE(0, 6),
  length: row.readUInt32BE(6),
  newestMs: row.readUIntBE(10, 6),
});

export { blockBytes };
