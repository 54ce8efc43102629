import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { serviceClasses } from "#lib/limits/service-class.ts";
import { amount, maxAmount } from "./amount.ts";

/** The level of a balance, best first: above its threshold, below it, or too little for a request. */
export const balanceLevels = ["ample", "low", "exhausted"] as const;
export type BalanceLevel = (typeof balanceLevels)[number];

/** Why a closed account is frozen. It has no people any more, either. */
export const closedReason = "closed";

/** A paying customer. Money is in pico-USD. */
export const Account = defineEntity({
  name: "Account",
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    /** The search key of its name, made by `toNameKey`. */
    nameKey: p.blob(),
    /** Where mail of the account goes beside its people's. Null: nowhere. */
    email: p.string().nullable(),
    /** The most live keys that it may have. */
    maxKeys: p.integer(),
    createdAt: p.datetime(3),
    /** The id of the request that made it, so that the request sent again makes no other. Null: it had no id. */
    requestId: p.string().nullable().unique(),
    /** Everything ever paid in, less refunds. May exceed 2^53. */
    paidTotal: p.bigint("bigint").check("paid_total >= 0"),
    /** Debt, which the next money that comes in pays first. */
    debt: p.bigint("bigint").check("debt >= 0"),
    /** The most that may be owed on credit. 0: everything is prepaid. */
    creditLine: amount().default(0).check(`credit_line >= 0 and credit_line <= ${maxAmount}`),
    /** Since when no new request runs. Null: it is not frozen. */
    frozenAt: p.datetime(3).nullable(),
    /** Why it is frozen, for people. Null: it is not. */
    frozenReason: p.string().nullable(),
    /** The most requests at once. Null: its tier decides. */
    maxInFlight: p.integer().nullable(),
    /** The class of its requests, and the highest that they may have. Null: standard. */
    serviceClass: p.enum(serviceClasses).nullable(),
    /** A balance below this is low. Null: the threshold follows from the last top-up; before the first, none is low. */
    lowBalance: amount().nullable(),
    /** The last top-up. Null: there was none. */
    lastPaid: amount().nullable(),
    /** The level of its balance that events have announced: the next crossing below it is announced. */
    balanceTold: p.enum(balanceLevels).default("ample"),
  },
  indexes: [
    { name: "account_debt_index", properties: ["id"], where: "debt > 0" },
    { name: "account_low_index", properties: ["id"], where: "balance_told <> 'ample' and last_paid is not null" },
    { name: "account_credit_index", properties: ["id"], where: "credit_line > 0" },
    { name: "account_frozen_index", properties: ["id"], where: "frozen_at is not null" },
    { name: "account_name_index", properties: ["nameKey", "id"] },
  ],
});
export type Account = InferEntity<typeof Account>;

/** A name without case and compatibility forms, as bytes, which all databases sort alike whatever their collation. */
export function toNameKey(name: string): Buffer {
  return Buffer.from(name.normalize("NFKC").toLowerCase());
}

/** Whether no new request of the account runs. */
export function isFrozen({ frozenAt }: Pick<Account, "frozenAt">): boolean {
  return frozenAt !== null && frozenAt !== undefined;
}
