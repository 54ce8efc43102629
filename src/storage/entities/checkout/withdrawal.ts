import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { amount, maxAmount } from "../amount.ts";
import { ProviderPayment } from "./provider-payment.ts";

/**
 * asked: nothing has moved yet. withdrawn: the ledger has given the money away, the provider has not confirmed. done:
 * both have. refused: the ledger did not give it. returned: the provider kept or got the money, and the ledger has it
 * again.
 */
export const withdrawalStates = ["asked", "withdrawn", "done", "refused", "returned"] as const;

/** Money of a payment that goes back to who paid: a refund, or a dispute. */
export const Withdrawal = defineEntity({
  name: "Withdrawal",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id").index(false),
    paymentId: () => p.manyToOne(ProviderPayment).mapToPk().joinColumn("payment_id").index(),
    /** refund: asked for here. elsewhere: refunded in the provider's dashboard. */
    kind: p.enum(["refund", "elsewhere", "dispute"] as const),
    /** What asked for it: the request's id and the payment's number in it. Null: it came from the provider. */
    cause: p.string().nullable(),
    /** The credit that the ledger gives away. 0: it has given all of the payment away before. */
    amount: amount(),
    /** What goes back at the provider, taxes included. */
    paidBack: amount(),
    state: p.enum(withdrawalStates),
    /** The provider's id. Null: the provider does not have it yet. */
    providerId: p.string().nullable().unique(),
    /** Why it failed, for people. Null: it did not. */
    problem: p.text().nullable(),
    createdAt: p.datetime(3),
    /** When it is carried on, if nothing else does. Null: it is over. */
    askAt: p.datetime(3).nullable(),
  },
  uniques: [{ properties: ["accountId", "cause"] }],
  indexes: [{ name: "withdrawal_ask", properties: ["askAt"], where: "ask_at is not null" }],
  checks: [{ name: "withdrawal_amount", expression: `amount >= 0 and amount <= ${maxAmount}` }],
});
export type Withdrawal = InferEntity<typeof Withdrawal>;
