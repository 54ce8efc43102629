import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** A column of a sum. */
const sum = () => p.bigint("number");

/**
 * The sums that usage is read from. The cost is in two parts, as `sumColumns` cuts it: a year of it may pass 64 bits.
 * Tokens that one request has beyond `mostTokens` of metering/store/rollups.ts are left out.
 */
const sums = () => ({
  requests: sum(),
  inputTokens: sum(),
  outputTokens: sum(),
  costHigh: sum(),
  costLow: sum(),
  /** What no lot could pay. */
  shortfall: sum(),
});

/**
 * What one core has charged in an hour, written with the charges themselves; each core has rows of its own, so that none
 * waits for another. Those of hours that are over are folded into rollups, and what comes late begins a new row.
 */
export const UsageTally = defineEntity({
  name: "UsageTally",
  properties: {
    coreId: p.uuid().primary(),
    /** Whole hours since 1970 in UTC, of the time of settlement. */
    hour: p.integer().primary(),
    accountId: p.uuid().primary(),
    /** Empty: a service token. */
    keyId: p.string().primary(),
    model: p.string().primary(),
    ...sums(),
    /** Whether balances and budgets were looked at since its last charge. */
    seen: p.boolean().default(false),
    /** Whether it may have charges that count in no slice of a budget. Older cores leave it as they find it: true, where they made the row. */
    unbudgeted: p.boolean().default(true),
  },
  indexes: [
    { properties: ["accountId", "hour"] },
    { properties: ["hour"] },
    { name: "usage_tally_unseen", properties: ["hour"], where: "not seen" },
  ],
});
export type UsageTally = InferEntity<typeof UsageTally>;

/** The spans that usage is summed up in. */
export const rollupSpans = ["hour", "day"] as const;

/** What was charged in an hour or a day, of hours that were folded: it stays when receipts leave. */
export const UsageRollup = defineEntity({
  name: "UsageRollup",
  properties: {
    /** `allAccounts` of metering/store/rollups.ts: the sums over accounts and keys, a model each. */
    accountId: p.uuid().primary(),
    span: p.enum(rollupSpans).primary(),
    /** Whole hours or days since 1970 in UTC. */
    slot: p.integer().primary(),
    keyId: p.string().primary(),
    model: p.string().primary(),
    ...sums(),
  },
  indexes: [{ properties: ["span", "slot"] }],
});
export type UsageRollup = InferEntity<typeof UsageRollup>;

/** What spans keep apart: accounts alone, or each key and model of an account. */
export const usageDetails = ["account", "key"] as const;

/**
 * The rollups of hours again, in slots of several lengths and in the order of time: what many accounts used is read from
 * few neighbouring rows of it, however long ago it begins. Written with the rollups.
 */
export const UsageSpan = defineEntity({
  name: "UsageSpan",
  properties: {
    /** The length, one of `spanHours` of metering/store/spans.ts. */
    hours: p.integer().primary(),
    /** account: the sums of its keys and models, whose names are empty. */
    detail: p.enum(usageDetails).primary(),
    /** Whole lengths since 1970 in UTC. */
    slot: p.integer().primary(),
    accountId: p.uuid().primary(),
    keyId: p.string().primary(),
    model: p.string().primary(),
    ...sums(),
  },
});
export type UsageSpan = InferEntity<typeof UsageSpan>;

/**
 * The last rollup of an hour, in the order of these columns, that is in the spans already: while those of a database that
 * had rollups before it had spans are built. No row: all of them are.
 */
export const UsageSpanBuild = defineEntity({
  name: "UsageSpanBuild",
  properties: {
    accountId: p.uuid().primary(),
    slot: p.integer(),
    keyId: p.string(),
    model: p.string(),
  },
});
export type UsageSpanBuild = InferEntity<typeof UsageSpanBuild>;
