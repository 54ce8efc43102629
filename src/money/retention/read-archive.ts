import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fromJsonString } from "@bufbuild/protobuf";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Receipt, ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { dayMs } from "../store/kept-from.ts";
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

/** Opens archives of a folder. A file is compared with its digest in the books once, and when it is another file. */
export class ArchiveFolder {
  readonly #directory: string;
  /** What tells the files apart that were compared, by name. */
  readonly #compared = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async open(archive: ReceiptArchive): Promise<OpenArchive> {
    await this.compare(archive, this.#compared.get(archive.file));
    const handle = await open(join(this.#directory, archive.file), "r").catch(() => gone(archive));
    const layout = await this.#layout(handle, archive).catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    return reading(handle, layout);
  }

  /** Compares an archive with its digest, unless it is the file that `known` names. */
  async compare(archive: ReceiptArchive, known?: string): Promise<void> {
    const path = join(this.#directory, archive.file);
    const { ino, size, mtimeMs } = await stat(path).catch(() => gone(archive));
    const found = `${ino} ${size} ${mtimeMs}`;
    if (found === known) {
      return;
    }
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk as Buffer);
    }
    if (hash.digest("hex") !== archive.sha256) {
      throw changed(archive);
    }
    this.#compared.set(archive.file, found);
  }

  async #layout(handle: FileHandle, archive: ReceiptArchive): Promise<Layout> {
    const layout = readLayout(await bytesAt(handle, archive.bytes - trailerBytes, trailerBytes));
    if (layout === undefined) {
      throw changed(archive);
    }
    return layout;
  }
}

function reading(handle: FileHandle, layout: Layout): OpenArchive {
  const entry = (place: number) => bytesAt(handle, layout.entryAt(place), entryBytes);
  const block = async (number: number) => readBlock(await bytesAt(handle, layout.blockAt(number), blockBytes));
  return {
    blocks: layout.blocks,
    block,
    async lines(number) {
      const { offset, length } = await block(number);
      const text = (await decompress(await bytesAt(handle, offset, length))).toString();
      return text.split("\n").filter((line) => line !== "");
    },
    async find(requestId) {
      const hash = hashOf(requestId);
      const compare = (one: Buffer) => Buffer.compare(one.subarray(0, hash.length), hash);
      let [low, high] = [0, layout.entries];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        [low, high] = compare(await entry(middle)) < 0 ? [middle + 1, high] : [low, middle];
      }
      const found: number[] = [];
      for (let place = low; place < layout.entries; place++) {
        const one = await entry(place);
        if (compare(one) !== 0) {
          break;
        }
        found.push(one.readUIntBE(hash.length, 3));
      }
      return found;
    },
    close: () => handle.close(),
  };
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) {
    throw new Error("an archive ended too soon");
  }
  return buffer;
}

const nameOf = ({ day }: ReceiptArchive) => new Date(day * dayMs).toISOString().slice(0, 10);

function changed(archive: ReceiptArchive): Error {
  return failure(
    Reason.ARCHIVE_CHANGED,
    `The archive of ${nameOf(archive)} is not the one that was written: restore ${archive.file} from a copy.`,
    { parameter: "request_id" },
  );
}

function gone(archive: ReceiptArchive): never {
  const at = archive.at.toISOString().slice(0, 10);
  throw failure(
    Reason.RECEIPT_ARCHIVED,
    `The receipts of ${nameOf(archive)} left the books on ${at}, and their archive is not in its place.`,
    { parameter: "request_id" },
  );
}
