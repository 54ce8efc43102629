import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** See `PaymentOutcome` of the contract. */
export const paymentOutcomes = ["credited", "withdrawn", "unmatched", "refused", "postponed"] as const;

/** What the payment provider told of money that moved, with what became of it. */
export const PaymentEvent = defineEntity({
  name: "PaymentEvent",
  properties: {
    /** The provider's id of the event. */
    id: p.string().primary(),
    type: p.string(),
    /** The payment at the provider. */
    reference: p.string(),
    /** As the payment names it, which need not be an account's id. Null: it names none. */
    accountId: p.string().nullable(),
    /** In pico-USD. Null: it names none. */
    amount: p.bigint("bigint").nullable(),
    outcome: p.enum(paymentOutcomes),
    /** The outcome for people. */
    detail: p.text(),
    /** When it came first. */
    at: p.datetime(3),
  },
  indexes: [
    { properties: ["at", "id"] },
    { name: "payment_event_unmatched", properties: ["at", "id"], where: "outcome = 'unmatched'" },
  ],
});
export type PaymentEvent = InferEntity<typeof PaymentEvent>;
