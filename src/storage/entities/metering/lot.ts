import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { amount, maxAmount } from "../amount.ts";
import { Payment } from "../payment.ts";
import { withCredit, withFreeMoney } from "./lot-conditions.ts";
import { OwnPrices } from "./own-prices.ts";
import { PriceVersion } from "./price.ts";

/**
 * Money that came in at one time, with the prices of that moment. A credit lot is a part of the account's credit line:
 * nobody paid it in, and what is spent of it is owed.
 */
export const Lot = defineEntity({
  name: "Lot",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id").index(false),
    kind: p.enum(["free", "grant", "paid", "credit"] as const),
    /** A lower priority is spent first. */
    priority: p.integer(),
    granted: amount(),
    /** Spent through closed slices, and on the account's debt. */
    spent: amount(),
    /** Lent to cores: the sum of its open slices. */
    leased: amount(),
    /** Paid back; of a credit lot, taken back by the line. */
    refunded: amount(),
    expired: amount(),
    /** Of what is spent of a credit lot, the part that other money has paid since. The rest is owed. */
    repaid: amount().default(0),
    priceVersionId: () => p.manyToOne(PriceVersion).mapToPk().joinColumn("price_version_id"),
    /** The account's own prices of that moment. Null: the general prices. */
    ownPricesId: () =>
      p.manyToOne(OwnPrices).mapToPk().joinColumn("own_prices_id").nullable().deleteRule("no action").index(false),
    createdAt: p.datetime(3),
    /** Null: it never expires. */
    expiresAt: p.datetime(3).nullable(),
    /** Null: a credit lot. */
    paymentId: () =>
      p.manyToOne(Payment).mapToPk().joinColumn("payment_id").unique().nullable().deleteRule("no action"),
  },
  // The first index serves pages of all lots of an account. The others cover lots that may still be leased, in the
  // order of spending: those that lapse, and those that never do.
  indexes: [
    { properties: ["accountId", "id"] },
    {
      name: "lot_spending_expiring",
      properties: ["accountId", "priority", "expiresAt", "createdAt", "id"],
      where: `${withFreeMoney} and expires_at is not null`,
    },
    {
      name: "lot_spending_lasting",
      properties: ["accountId", "priority", "createdAt", "id"],
      where: `${withFreeMoney} and expires_at is null`,
    },
    {
      name: "lot_expiry",
      properties: ["expiresAt", "id"],
      where: `${withFreeMoney} and expires_at is not null`,
    },
    { name: "lot_credit", properties: ["accountId", "id"], where: withCredit },
  ],
  checks: [
    { name: "lot_granted", expression: `granted > 0 and granted <= ${maxAmount}` },
    { name: "lot_parts", expression: "spent >= 0 and leased >= 0 and refunded >= 0 and expired >= 0" },
    { name: "lot_own_prices", expression: "own_prices_id is null or kind = 'paid' or kind = 'credit'" },
    {
      name: "lot_repaid",
      expression: "repaid >= 0 and repaid <= granted - refunded and (repaid = 0 or kind = 'credit')",
    },
    { name: "lot_origin", expression: "(kind = 'credit') = (payment_id is null)" },
    { name: "lot_sum", expression: "spent + leased + refunded + expired <= granted" },
  ],
});
export type Lot = InferEntity<typeof Lot>;

/** The reason for a change of a lot's money other than by usage. Rows are appended, never changed. */
export const LotEntry = defineEntity({
  name: "LotEntry",
  properties: {
    id: p.uuid().primary(),
    lotId: () => p.manyToOne(Lot).mapToPk().joinColumn("lot_id").index(),
    /** debt: spent on the account's debt, or on what is owed of its line. repaid: what a credit lot got of that. */
    kind: p.enum(["grant", "refund", "expire", "debt", "repaid"] as const),
    amount: amount(),
    /** The payment behind it. Null: none. */
    paymentId: p.uuid().nullable(),
    at: p.datetime(3),
  },
  checks: [{ name: "lot_entry_amount", expression: `amount > 0 and amount <= ${maxAmount}` }],
});
export type LotEntry = InferEntity<typeof LotEntry>;
