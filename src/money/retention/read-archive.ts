import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fromJsonString } from "@bufbuild/protobuf";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Receipt, ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { unavailable } from "../model/unavailable.ts";
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
import type { ArchivePlace, OpenFile } from "./place.ts";

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

/** Opens archives. A file is compared with its digest in the books once, and when it is another file. */
export class ArchiveReader {
  readonly #place: Omit<ArchivePlace, "create">;
  /** What tells the files apart that were compared, by name. */
  readonly #compared = new Map<string, string>();

  constructor(place: Omit<ArchivePlace, "create">) {
    this.#place = place;
  }

  /** Throws RECEIPT_ARCHIVED, ARCHIVE_CHANGED, and LEDGER_UNAVAILABLE where the place cannot be read. */
  async open(archive: ReceiptArchive): Promise<OpenArchive> {
    await this.compare(archive, this.#compared.get(archive.file));
    const file = await this.#place.open(archive.file).catch((error: unknown) => unreadable(archive, error));
    const layout = await readEnd(file, archive).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return reading(file, layout);
  }

  /** Compares an archive with its digest, unless it is the file that `known` names. */
  async compare(archive: ReceiptArchive, known?: string): Promise<void> {
    const found = await this.#place.identify(archive.file).catch((error: unknown) => unreadable(archive, error));
    if (found === undefined) {
      throw gone(archive);
    }
    if (found === known) {
      return;
    }
    const digest = await this.#digest(archive).catch((error: unknown) => unreadable(archive, error));
    if (digest !== archive.sha256) {
      throw changed(archive);
    }
    this.#compared.set(archive.file, found);
  }

  async #digest({ file }: ReceiptArchive): Promise<string> {
    const hash = createHash("sha256");
    for await (const chunk of this.#place.stream(file)) {
      hash.update(chunk);
    }
    return hash.digest("hex");
  }
}

async function readEnd(file: OpenFile, archive: ReceiptArchive): Promise<Layout> {
  const layout = readLayout(await file.read(archive.bytes - trailerBytes, trailerBytes));
  if (layout === undefined) {
    throw changed(archive);
  }
  return layout;
}

function reading(file: OpenFile, layout: Layout): OpenArchive {
  const entry = (place: number) => file.read(layout.entryAt(place), entryBytes);
  const block = async (number: number) => readBlock(await file.read(layout.blockAt(number), blockBytes));
  return {
    blocks: layout.blocks,
    block,
    async lines(number) {
      const { offset, length } = await block(number);
      const text = (await decompress(await file.read(offset, length))).toString();
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
    close: () => file.close(),
  };
}

const nameOf = ({ day }: ReceiptArchive) => new Date(day * dayMs).toISOString().slice(0, 10);

function changed(archive: ReceiptArchive): Error {
  return failure(
    Reason.ARCHIVE_CHANGED,
    `The archive of ${nameOf(archive)} is not the one that was written: restore ${archive.file} from a copy.`,
    { parameter: "request_id" },
  );
}

function unreadable(archive: ReceiptArchive, error: unknown): never {
  throw unavailable(`The archive of ${nameOf(archive)} cannot be read at the moment.`, error);
}

function gone(archive: ReceiptArchive): Error {
  const at = archive.at.toISOString().slice(0, 10);
  return failure(
    Reason.RECEIPT_ARCHIVED,
    `The receipts of ${nameOf(archive)} left the books on ${at}, and their archive is not in its place.`,
    { parameter: "request_id" },
  );
}
