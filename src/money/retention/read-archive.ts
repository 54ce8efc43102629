import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fromJsonString } from "@bufbuild/protobuf";
import { type Receipt, ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { ArchiveDigests, changed, unreadable } from "./archive-digests.ts";
import {
  type Block,
  blockBytes,
  entryBytes,
  hashOf,
  type Layout,
  readBlock,
  readLayout,
  trailerBytes,
} from "./archive-format.ts";
import { FilePages } from "./file-pages.ts";
import type { ArchivePlace } from "./place.ts";

const decompress = promisify(gunzip);

/** An archive that is open for reading. */
export interface OpenArchive {
  readonly blocks: number;
  block(number: number): Promise<Block>;
  /** The lines of a block, newest first. */
  lines(number: number): Promise<string[]>;
  /** The blocks that may have receipts of a request, in order. */
  find(requestId: string): Promise<number[]>;
  close(): Promise<void>;
}

/** A line of an archive as the receipt that it was. */
export const toReceipt = (line: string): Receipt => ({ ...fromJsonString(ReceiptSchema, line), archived: true });

/** Opens archives, which are compared with their digests before anything of them is believed. */
export class ArchiveReader {
  readonly #place: Pick<ArchivePlace, "open">;
  readonly #digests: ArchiveDigests;

  constructor(place: Omit<ArchivePlace, "create">) {
    this.#place = place;
    this.#digests = new ArchiveDigests(place);
  }

  /** Throws RECEIPT_ARCHIVED, ARCHIVE_CHANGED, and LEDGER_UNAVAILABLE where the place cannot be read. */
  async open(archive: ReceiptArchive): Promise<OpenArchive> {
    await this.#digests.demand(archive);
    const file = await this.#place.open(archive.file).catch((error: unknown) => unreadable(archive, error));
    const pages = new FilePages(file, archive.bytes);
    const read: Read = (position, length) =>
      pages.read(position, length).catch((error: unknown) => unreadable(archive, error));
    const layout = await readEnd(read, archive).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return { ...reading(read, layout), close: () => file.close() };
  }

  /** Compares an archive with its digest, even if it was compared before, and returns its mark. Throws as `open` does. */
  compare(archive: ReceiptArchive): Promise<string> {
    return this.#digests.compare(archive);
  }
}

/** Reads so many bytes of an archive from a position on. */
type Read = (position: number, length: number) => Promise<Buffer>;

async function readEnd(read: Read, archive: ReceiptArchive): Promise<Layout> {
  const layout = readLayout(await read(archive.bytes - trailerBytes, trailerBytes));
  if (layout === undefined) {
    throw changed(archive);
  }
  return layout;
}

function reading(read: Read, layout: Layout): Omit<OpenArchive, "close"> {
  const block = async (number: number) => readBlock(await read(layout.blockAt(number), blockBytes));
  return {
    blocks: layout.blocks,
    block,
    async lines(number) {
      const { offset, length } = await block(number);
      const text = (await decompress(await read(offset, length))).toString();
      return text.split("\n").filter((line) => line !== "");
    },
    find: (requestId) => findBlocks(read, layout, hashOf(requestId)),
  };
}

/** The blocks whose requests have an id with this hash. Hashes are spread evenly, so the search begins close to its place. */
async function findBlocks(read: Read, { entries, entryAt }: Layout, hash: Buffer): Promise<number[]> {
  const entry = (place: number) => read(entryAt(place), entryBytes);
  const isBefore = async (place: number) => Buffer.compare((await entry(place)).subarray(0, hash.length), hash) < 0;
  const likely = Math.floor((hash.readUIntBE(0, hash.length) / 2 ** (8 * hash.length)) * entries);
  const around = Math.ceil(4 * Math.sqrt(entries));
  let [low, high] = [Math.max(0, likely - around), Math.min(entries, likely + around)];
  if (low > 0 && !(await isBefore(low - 1))) {
    low = 0;
  }
  if (high < entries && (await isBefore(high))) {
    high = entries;
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    [low, high] = (await isBefore(middle)) ? [middle + 1, high] : [low, middle];
  }
  const found: number[] = [];
  for (let place = low; place < entries; place++) {
    const one = await entry(place);
    if (!one.subarray(0, hash.length).equals(hash)) {
      break;
    }
    found.push(one.readUIntBE(hash.length, 3));
  }
  return found;
}
