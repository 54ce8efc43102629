import { toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { Random } from "#lib/ids/random.ts";
import type { Storage } from "#src/storage/orm.ts";
import { listReceipts } from "../books/receipts/receipt-list.ts";
import { dayMs, readKeptFrom } from "../store/kept-from.ts";
import { ArchiveFile, type WrittenFile } from "./archive-file.ts";

/** Receipts read and written at once: about a millisecond of work. */
const pageSize = 20;
/** Costs are summed in two parts, split as in `sumColumns`. */
const part = 1_000_000n;

/** The archive of a day. */
export interface WrittenArchive extends WrittenFile {
  readonly file: string;
  readonly receipts: number;
  readonly costHigh: number;
  readonly costLow: number;
}

/** The source of receipts, and the folder for archives. */
export interface ArchiveGround {
  readonly storage: Storage;
  readonly directory: string;
  readonly random: Pick<Random, "uuid">;
  /** Creates a file in the folder. Absent: on the disk. */
  readonly createFile?: (
    ...parameters: Parameters<typeof ArchiveFile.create>
  ) => Promise<Pick<ArchiveFile, "write" | "finish" | "abandon">>;
}

/**
 * Writes a day's receipts to a file, newest first, one line of JSON each, as the contract has them. Calls `pace` after
 * every page.
 */
export async function writeArchive(
  { storage, directory, random, createFile = ArchiveFile.create }: ArchiveGround,
  day: number,
  pace: () => Promise<void>,
): Promise<WrittenArchive> {
  const name = `receipts-${new Date(day * dayMs).toISOString().slice(0, 10)}.jsonl.gz`;
  const span = { from: timestampFromMs(day * dayMs), to: timestampFromMs((day + 1) * dayMs) };
  const file = await createFile(directory, name, random);
  const sums = { receipts: 0, costHigh: 0, costLow: 0 };
  try {
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const all = { accountId: "", keyId: "", model: "", requestId: "" };
      const page = await listReceipts(storage, { ...all, ...span, pageSize, pageToken });
      for (const receipt of page.receipts) {
        sums.receipts++;
        sums.costHigh += Number(receipt.costPicoUsd / part);
        sums.costLow += Number(receipt.costPicoUsd % part);
      }
      await file.write(page.receipts.map((receipt) => `${toJsonString(ReceiptSchema, receipt)}\n`).join(""));
      pageToken = page.nextPageToken || undefined;
      await pace();
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
