import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { serviceClasses } from "../../../lib/service-class.ts";
import { amount } from "./amount.ts";

/** How a balance stands, the best first: above its threshold, below it, or too little for a request. */
export const balanceLevels = ["ample", "low", "exhausted"] as const;
export type BalanceLevel = (typeof balanceLevels)[number];

/** Somebody who pays. Money is in pico-USD. */
export const Account = defineEntity({
  name: "Account",
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    /** What it is found by: `toNameKey` of its name. Null: an older release of the program made it. */
    nameKey: p.blob().nullable(),
    /** How many live keys it may have. */
    maxKeys: p.integer(),
    createdAt: p.datetime(3),
    /** The request that made it, so that sent again it makes no other. Null: it had no id. */
    requestId: p.string().nullable().unique(),
    /** Everything ever paid in, refunds deducted. May pass 2^53. */
    paidTotal: p.bigint("bigint").check("paid_total >= 0"),
    /** Owed; paid first from the next money that comes in. */
    debt: p.bigint("bigint").check("debt >= 0"),
    /** Since when nothing new runs. Null: it is not frozen. */
    frozenAt: p.datetime(3).nullable(),
    /** Why it is frozen, for people. Null: it is not. */
    frozenReason: p.string().nullable(),
    /** Requests at once. Null: its tier decides. */
    maxInFlight: p.integer().nullable(),
    /** The class of its requests, and the highest that they may have. Null: standard. */
    serviceClass: p.enum(serviceClasses).nullable(),
    /** Below this the balance is low. Null: it follows from the last top-up. */
    lowBalance: amount().nullable(),
    /** The last top-up. Null: there was none. */
    lastPaid: amount().nullable(),
    /** The level of its balance that events have told of: below it the next crossing is told. */
    balanceTold: p.enum(balanceLevels).default("ample"),
    /** The move that closed it here, before it took it to another database. Null: it is here. */
    moveId: p.uuid().nullable(),
  },
  indexes: [
    { name: "account_debt_index", properties: ["id"], where: "debt > 0" },
    { name: "account_moved_index", properties: ["id"], where: "move_id is not null" },
    { name: "account_name_index", properties: ["nameKey", "id"] },
  ],
});
export type Account = InferEntity<typeof Account>;

/** A name without case and compatibility forms, as bytes, which all databases order alike whatever their collation. */
export function toNameKey(name: string): Buffer {
  return Buffer.from(name.normalize("NFKC").toLowerCase());
}
