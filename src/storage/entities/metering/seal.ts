import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "../amount.ts";

/** A number of receipts, and their cost in two parts, split as in `sumColumns`. */
const sums = () => ({
  receipts: p.bigint("number"),
  costHigh: p.bigint("number"),
  costLow: p.bigint("number"),
});

/**
 * A day whose receipts were proved, and what they were. Seals are appended, never changed, and form a chain. A day whose
 * receipts came late is sealed anew: its last seal counts.
 */
export const DaySeal = defineEntity({
  name: "DaySeal",
  properties: {
    /** The place in the chain, from 1. */
    number: p.integer().primary().autoincrement(false),
    /** Names its sums, which are stored before it. */
    id: p.uuid().unique(),
    /** The day of settlement, in whole days since 1970 in UTC. */
    day: p.integer(),
    ...sums(),
    /** The root of the hash tree over the day's receipts: SHA-256 in hexadecimal digits. */
    root: p.string(),
    /** SHA-256 over the chain until here, in hexadecimal digits. */
    chain: p.string(),
    at: p.datetime(3),
  },
  indexes: [{ properties: ["day", "number"] }],
});
export type DaySeal = InferEntity<typeof DaySeal>;

/** The sealed receipts of an account. */
export const SealedAccount = defineEntity({
  name: "SealedAccount",
  properties: {
    sealId: p.uuid().primary(),
    accountId: p.uuid().primary(),
    ...sums(),
    /** SHA-256 over the account's receipts in the order of their settlement, in hexadecimal digits. */
    digest: p.string(),
  },
});
export type SealedAccount = InferEntity<typeof SealedAccount>;

/** What sealed receipts say that a slice, of a lot or of a budget, has spent. It stays when they leave the books. */
export const SealedSlice = defineEntity({
  name: "SealedSlice",
  properties: {
    sealId: p.uuid().primary(),
    sliceId: p.uuid().primary(),
    cost: amount(),
  },
  checks: [{ name: "sealed_slice_cost", expression: "cost >= 0" }],
});
export type SealedSlice = InferEntity<typeof SealedSlice>;
