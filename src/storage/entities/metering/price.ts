import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "../amount.ts";

/** What changed a price: the configuration, an operator, or the load of the servers. */
export const priceReasons = ["configured", "set", "pinned", "unpinned", "moved"] as const;
export type PriceReason = (typeof priceReasons)[number];

/** A numbered, immutable list of the prices of all models. The newest one is live. */
export const PriceVersion = defineEntity({
  name: "PriceVersion",
  properties: {
    /** The number of the version, from 1. */
    id: p.integer().primary().autoincrement(false),
    publishedAt: p.datetime(3),
    /** Random, so that a version that takes the number of one lost by a failover into the past has another mark. */
    mark: p.string().default(""),
  },
  indexes: [{ properties: ["publishedAt"] }],
});
export type PriceVersion = InferEntity<typeof PriceVersion>;

/**
 * A model's price, in pico-USD a token, from the version that changed it until the next version that does. A version
 * has rows only for the models that it changed. A model that was once listed is never removed.
 */
export const Price = defineEntity({
  name: "Price",
  properties: {
    versionId: () => p.manyToOne(PriceVersion).mapToPk().primary().joinColumn("version_id"),
    model: p.string().primary(),
    input: amount(),
    output: amount(),
    /** The operator's rates, around which the live rates move. */
    baseInput: amount(),
    baseOutput: amount(),
    /** The configured rate when it was last applied: another value in the configuration makes a new base. */
    configuredInput: amount(),
    configuredOutput: amount(),
    pinned: p.boolean(),
    /** One of `priceReasons`. Null: the row is older than they are. */
    reason: p.string().$type<PriceReason>().nullable(),
    /** The utilisation when the price moved. Null: the price controller did not move it. */
    utilisation: p.double().$type<number>().nullable(),
  },
  indexes: [{ properties: ["model", "versionId"] }],
  checks: [
    { name: "price_amounts", expression: "input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0" },
  ],
});
export type Price = InferEntity<typeof Price>;
