import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { amount } from "../amount.ts";

/** An account as the payment provider knows it. */
export const ProviderCustomer = defineEntity({
  name: "ProviderCustomer",
  properties: {
    accountId: () =>
      p.manyToOne(Account).mapToPk().joinColumn("account_id").deleteRule("no action").updateRule("no action").primary(),
    /** The provider's id. */
    customer: p.string(),
  },
});
export type ProviderCustomer = InferEntity<typeof ProviderCustomer>;

/** When the saved card of an account is charged by itself. No row: never. */
export const AutoTopUp = defineEntity({
  name: "AutoTopUp",
  properties: {
    accountId: () =>
      p.manyToOne(Account).mapToPk().joinColumn("account_id").deleteRule("no action").updateRule("no action").primary(),
    below: amount(),
    amount: amount(),
    /** The most in a calendar month. */
    monthly: p.bigint("bigint"),
    /** off: nobody wants it. declined: the card was declined too often. */
    state: p.enum(["on", "off", "declined"] as const),
    /** The number of the last crossing: each makes one charge. */
    crossing: p.integer(),
    /** The charge of the last crossing while it is under way. Null: none is. */
    charging: p.uuid().nullable(),
    /** Declines in a row. */
    declines: p.integer(),
    /** Not charged again before this; without declines no longer than until the balance is at its bound. Null: at any time. */
    notBefore: p.datetime(3).nullable(),
  },
  indexes: [{ name: "auto_top_up_on", properties: ["accountId"], where: "state = 'on'" }],
});
export type AutoTopUp = InferEntity<typeof AutoTopUp>;
