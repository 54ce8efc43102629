import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { amount } from "../amount.ts";

/** One and all of a price, in basis points: hundredths of a per cent. */
export const wholePrice = 10_000;

/**
 * An account's own prices: a discount on the general prices, and fixed prices of models. Rows are appended, never
 * changed: the newest one is locked in by the next payment.
 */
export const OwnPrices = defineEntity({
  name: "OwnPrices",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id").index(false),
    /** Counts the own prices of the account, from 1. */
    number: p.integer(),
    /** Basis points off every general price. */
    discount: p.integer(),
    setAt: p.datetime(3),
  },
  uniques: [{ properties: ["accountId", "number"] }],
  checks: [{ name: "own_prices_discount", expression: `discount >= 0 and discount < ${wholePrice} and number > 0` }],
});
export type OwnPrices = InferEntity<typeof OwnPrices>;

/** The fixed price of a model among an account's own prices, in pico-USD a token. The discount is not taken off it. */
export const OwnPrice = defineEntity({
  name: "OwnPrice",
  properties: {
    ownPricesId: () => p.manyToOne(OwnPrices).mapToPk().primary().joinColumn("own_prices_id").index(false),
    model: p.string().primary(),
    input: amount(),
    output: amount(),
  },
  checks: [{ name: "own_price_amounts", expression: "input >= 0 and output >= 0" }],
});
export type OwnPrice = InferEntity<typeof OwnPrice>;
