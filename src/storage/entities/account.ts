import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** Somebody who pays. Money is in pico-USD. */
export const Account = defineEntity({
  name: "Account",
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    /** How many live keys it may have. */
    maxKeys: p.integer(),
    createdAt: p.datetime(3),
    /** The request that made it, so that sent again it makes no other. Null: it had no id. */
    requestId: p.string().nullable().unique(),
    /** Everything ever paid in, refunds deducted. May pass 2^53. */
    paidTotal: p.bigint("bigint").check("paid_total >= 0"),
    /** Owed; paid first from the next money that comes in. */
    debt: p.bigint("bigint").check("debt >= 0"),
  },
  indexes: [{ name: "account_debt_index", properties: ["id"], where: "debt > 0" }],
});
export type Account = InferEntity<typeof Account>;
