import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { PageStart } from "#lib/rpc/pages.ts";
import { dayName } from "#lib/time/days.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import type { Storage } from "#src/storage/storage.ts";

/** A page of archives, newest first, of the days before `after`. */
export function listArchives(storage: Storage, { after, limit }: PageStart): Promise<ReceiptArchive[]> {
  const before = after === undefined ? {} : { day: { $lt: Number(after) } };
  return storage.orm.em.fork().find(ReceiptArchive, before, { orderBy: { day: "desc" }, limit });
}

/** An archive as a message of the contract. */
export function toArchiveMessage({ day, receipts, costHigh, costLow, file, bytes, sha256, at }: ReceiptArchive) {
  return {
    day: dayName(day),
    receipts: BigInt(receipts),
    costPicoUsd: String(BigInt(costHigh) * 1_000_000n + BigInt(costLow)),
    file,
    bytes: BigInt(bytes),
    sha256,
    archivedAt: timestampFromDate(at),
  };
}
