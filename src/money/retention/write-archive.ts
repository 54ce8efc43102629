import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Receipt, ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { dayMs, dayName } from "#lib/time/days.ts";
import type { Storage } from "#src/storage/storage.ts";
import { listReceipts } from "../books/receipts/receipt-list.ts";
import { readKeptFrom } from "../store/kept-from.ts";
import { ArchiveIndex } from "./archive-index.ts";
import type { ArchivePlace, WrittenFile } from "./place.ts";

const compressInThreads = promisify(gzip) as (text: string) => Promise<Buffer>;

/** Receipts read and written at once: about a millisecond of work. */
const pageSize = 20;
/** Receipts compressed together: what is read to find one of them. */
const blockSize = 100;
/** Costs are summed in two parts, split as in `sumColumns`. */
const part = 1_000_000n;

/** The archive of a day. */
export interface WrittenArchive extends WrittenFile {
  readonly file: string;
  readonly receipts: number;
  readonly costHigh: number;
  readonly costLow: number;
}

/** The source of receipts, and the place of archives. */
export interface ArchiveGround {
  readonly storage: Storage;
  readonly place: Pick<ArchivePlace, "create">;
  /** Compresses text with gzip. Absent: on threads of Node.js's pool. */
  readonly compress?: (text: string) => Promise<Buffer>;
}

/**
 * Writes a day's receipts to a file, newest first, one line of JSON each, as the contract has them, and the index of
 * their requests. Calls `pace` after every page.
 */
export async function writeArchive(
  { storage, place, compress = compressInThreads }: ArchiveGround,
  day: number,
  pace: () => Promise<void>,
): Promise<WrittenArchive> {
  const name = `receipts-${dayName(day)}.jsonl.gz`;
  const file = await place.create(name);
  const sums = { receipts: 0, costHigh: 0, costLow: 0 };
  const index = new ArchiveIndex();
  let offset = 0;
  const write = async (content: Buffer) => {
    await file.write(content);
    offset += content.length;
  };
  try {
    for await (const receipts of readBlocks(storage, day, pace)) {
      for (const { costPicoUsd } of receipts) {
        sums.receipts++;
        sums.costHigh += Number(costPicoUsd / part);
        sums.costLow += Number(costPicoUsd % part);
      }
      const content = await compress(receipts.map((receipt) => `${toJsonString(ReceiptSchema, receipt)}\n`).join(""));
      const newestMs = timestampMs(receipts[0]?.settledAt ?? timestampFromMs(day * dayMs));
      const ids = new Set(receipts.map(({ requestId }) => requestId));
      index.add({ offset, length: content.length, newestMs }, [...ids]);
      await write(content);
    }
    for await (const content of index.finish(offset, pace)) {
      await write(content);
    }
    // Receipts leave once another core has entered its archive: what was read until now may lack some.
    if ((await readKeptFrom(storage)) > day * dayMs) {
      throw new Error("another core has archived the day");
    }
    return { file: name, ...sums, ...(await file.finish()) };
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

/** A day's receipts, newest first, in blocks. */
async function* readBlocks(storage: Storage, day: number, pace: () => Promise<void>): AsyncGenerator<Receipt[]> {
  const asked = {
    accountId: "",
    keyId: "",
    model: "",
    requestId: "",
    labelName: "",
    from: timestampFromMs(day * dayMs),
    to: timestampFromMs((day + 1) * dayMs),
    pageSize,
  };
  let block: Receipt[] = [];
  for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
    const page = await listReceipts(storage, { ...asked, pageToken });
    block.push(...page.receipts);
    pageToken = page.nextPageToken || undefined;
    if (block.length >= blockSize || (pageToken === undefined && block.length > 0)) {
      yield block;
      block = [];
    }
    await pace();
  }
}
