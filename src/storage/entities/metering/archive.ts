import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/**
 * The archive of one day's receipts, written before the first of them is removed. All receipts from before the end of
 * the last archived day are removed, or about to be.
 */
export const ReceiptArchive = defineEntity({
  name: "ReceiptArchive",
  properties: {
    /** The day of settlement, in whole days since 1970 in UTC. */
    day: p.integer().primary().autoincrement(false),
    receipts: p.bigint("number"),
    /** The receipts' cost in two parts, split as in `sumColumns`. */
    costHigh: p.bigint("number"),
    costLow: p.bigint("number"),
    /** The file's name in the folder of archives. */
    file: p.string(),
    bytes: p.bigint("number"),
    /** SHA-256 of the file, in hexadecimal digits. */
    sha256: p.string(),
    /** What told the file from others when it was compared with its digest. Null: nothing that lasts. */
    mark: p.text().nullable(),
    at: p.datetime(3),
  },
});
export type ReceiptArchive = InferEntity<typeof ReceiptArchive>;
