import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "./account.ts";
import { amount, maxAmount } from "./amount.ts";

/** Money that came in or went back, once for each reference. */
export const Payment = defineEntity({
  name: "Payment",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id"),
    kind: p.enum(["free", "grant", "paid", "refund"] as const),
    amount: amount(),
    /** The part of a refund that no lot had any more, which the account owes instead. */
    owed: p.bigint("number").default(0),
    /** Unique over all accounts and kinds, so that nothing is taken in or paid back twice. */
    reference: p.string().unique(),
    /** The lot that was made, or the newest lot that was refunded from. */
    lotId: p.uuid(),
    at: p.datetime(3),
  },
  indexes: [{ properties: ["accountId", "at"] }],
  checks: [{ name: "payment_amount", expression: `amount > 0 and amount <= ${maxAmount}` }],
});
export type Payment = InferEntity<typeof Payment>;
