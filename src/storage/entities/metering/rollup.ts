import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** A column of a sum. */
const sum = () => p.bigint("number");

/**
 * The sums that usage is read from. The cost is in two parts, split as in `sumColumns`: a year of it may exceed 64
 * bits. Tokens of one request beyond `mostTokens` of metering/store/rollups.ts are left out.
 */
const sums = () => ({
  requests: sum(),
  inputTokens: sum(),
  outputTokens: sum(),
  costHigh: sum(),
  costLow: sum(),
  /** The cost that no lot could pay. */
  shortfall: sum(),
});

/**
 * What one core has charged in an hour, written with the charges themselves. Each core has its own rows, so that none
 * waits for another. Tallies of past hours are folded into rollups; a late charge begins a new row.
 */
export const UsageTally = defineEntity({
  name: "UsageTally",
  properties: {
    coreId: p.uuid().primary(),
    /** The hour of settlement, in whole hours since 1970 in UTC. */
    hour: p.integer().primary(),
    accountId: p.uuid().primary(),
    /** Empty: a service token. */
    keyId: p.string().primary(),
    model: p.string().primary(),
    ...sums(),
    /** Whether balances and budgets were looked at since its last charge. */
    seen: p.boolean().default(false),
    /** Whether it may have charges that count in no slice of a budget. */
    unbudgeted: p.boolean().default(true),
  },
  indexes: [
    { properties: ["accountId", "hour"] },
    { properties: ["hour"] },
    { name: "usage_tally_unseen", properties: ["hour"], where: "not seen" },
  ],
});
export type UsageTally = InferEntity<typeof UsageTally>;

/**
 * What one core has charged in an hour to requests with a value of an attribution label, written with the charges
 * themselves. It stays for `labels.keep_days`.
 */
export const UsageLabel = defineEntity({
  name: "UsageLabel",
  properties: {
    accountId: p.uuid().primary(),
    name: p.string().primary(),
    /** The hour of settlement, in whole hours since 1970 in UTC. */
    hour: p.integer().primary(),
    value: p.string().primary(),
    /** Empty: a service token. */
    keyId: p.string().primary(),
    model: p.string().primary(),
    coreId: p.uuid().primary(),
    ...sums(),
  },
  indexes: [{ properties: ["hour"] }],
});
export type UsageLabel = InferEntity<typeof UsageLabel>;

/** The spans that usage is summed up in. */
export const rollupSpans = ["hour", "day"] as const;

/** What was charged in an hour or a day, from folded tallies. It stays when receipts leave the books. */
export const UsageRollup = defineEntity({
  name: "UsageRollup",
  properties: {
    /** `allAccounts` of metering/store/rollups.ts: the sums over all accounts and keys, for each model. */
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

/** How spans are grouped: by account alone, or by each key and model of an account. */
export const usageDetails = ["account", "key"] as const;

/**
 * The rollups of hours again, in slots of several lengths and in the order of time. Usage of many accounts is read from
 * few neighbouring rows of them, however long ago it begins. Written with the rollups.
 */
export const UsageSpan = defineEntity({
  name: "UsageSpan",
  properties: {
    /** The length of the slot, one of `spanHours` of metering/store/spans.ts. */
    hours: p.integer().primary(),
    /** account: the sums over the account's keys and models, whose names are empty. */
    detail: p.enum(usageDetails).primary(),
    /** Whole slots of this length since 1970 in UTC. */
    slot: p.integer().primary(),
    accountId: p.uuid().primary(),
    keyId: p.string().primary(),
    model: p.string().primary(),
    ...sums(),
  },
});
export type UsageSpan = InferEntity<typeof UsageSpan>;
