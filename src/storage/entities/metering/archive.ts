import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "../amount.ts";

/**
 * The receipts of a day that are kept in a file instead, written before the first of them is removed. All receipts from
 * before the end of the last such day are removed, or about to be.
 */
export const ReceiptArchive = defineEntity({
  name: "ReceiptArchive",
  properties: {
    /** Whole days since 1970 in UTC, of the time of settlement. */
    day: p.integer().primary().autoincrement(false),
    receipts: p.bigint("number"),
    /** Their cost in two parts, as `sumColumns` cuts it. */
    costHigh: p.bigint("number"),
    costLow: p.bigint("number"),
    /** Its name in the folder of archives. */
    file: p.string(),
    bytes: p.bigint("number"),
    /** SHA-256 of the file, in hexadecimal digits. */
    sha256: p.string(),
    at: p.datetime(3),
  },
});
export type ReceiptArchive = InferEntity<typeof ReceiptArchive>;

/** What receipts that were removed say that a slice, of a lot or of a budget, has spent: with those that are kept it is all. */
export const ArchivedCost = defineEntity({
  name: "ArchivedCost",
  properties: {
    sliceId: p.uuid().primary(),
    cost: amount(),
  },
  checks: [{ name: "archived_cost_amount", expression: "cost >= 0" }],
});
export type ArchivedCost = InferEntity<typeof ArchivedCost>;
