import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { amount, maxAmount } from "../amount.ts";

/**
 * open: nobody has paid yet. paid: the provider has the money, the ledger does not yet. credited: the ledger has it.
 * expired: nobody can pay it any more. declined: the card was not charged.
 */
export const providerPaymentStates = ["open", "paid", "credited", "expired", "declined"] as const;

/** A payment through the payment provider, from the wish to pay on. */
export const ProviderPayment = defineEntity({
  name: "ProviderPayment",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id").index(false),
    /** checkout: a person pays on the provider's page. auto: the saved card is charged. elsewhere: the operator's page. */
    origin: p.enum(["checkout", "auto", "elsewhere"] as const),
    /** What asked for it: the request's id, the crossing's number, or the payment's reference. */
    cause: p.string(),
    /** The credit asked for; what the ledger has got once it is credited. */
    amount: amount(),
    /** What the provider has taken, taxes included. Null: nothing yet. */
    charged: amount().nullable(),
    state: p.enum(providerPaymentStates),
    /** The provider's session. Null: none is made yet, or none is needed. */
    session: p.string().nullable().unique(),
    /** The session's page. */
    url: p.text().nullable(),
    /** The payment at the provider, under which the ledger has it. Null: nobody has paid. */
    reference: p.string().nullable().unique(),
    /** Why the ledger does not take the money, for people. Null: nothing is in its way. */
    problem: p.text().nullable(),
    createdAt: p.datetime(3),
    /** When the provider is asked next how it stands. Null: it is over. */
    askAt: p.datetime(3).nullable(),
    /** Since when the provider refuses to tell of it. Null: it answered last, or was not asked. */
    refusedAt: p.datetime(3).nullable(),
  },
  uniques: [{ properties: ["accountId", "origin", "cause"] }],
  indexes: [
    { properties: ["accountId", "createdAt"] },
    { name: "provider_payment_ask", properties: ["askAt"], where: "ask_at is not null" },
  ],
  checks: [{ name: "provider_payment_amount", expression: `amount > 0 and amount <= ${maxAmount}` }],
});
export type ProviderPayment = InferEntity<typeof ProviderPayment>;
