import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "../amount.ts";

/** What makes a price: the configuration, an operator, or how busy the servers are. */
export const priceReasons = ["configured", "set", "pinned", "unpinned", "moved"] as const;
export type PriceReason = (typeof priceReasons)[number];

/** An immutable list of the prices of all models, numbered. The newest one is live. */
export const PriceVersion = defineEntity({
  name: "PriceVersion",
  properties: {
    /** Counts the versions from 1. */
    id: p.integer().primary().autoincrement(false),
    publishedAt: p.datetime(3),
    /** Random: a version that takes the number of one that a failover into the past has lost has another mark. */
    mark: p.string().default(""),
  },
});
export type PriceVersion = InferEntity<typeof PriceVersion>;

/**
 * A model's price, in pico-USD a token, from the version that changed it until the next version that does. A version
 * has rows only for the models that it changed; a model that was once listed is never taken out again.
 */
export const Price = defineEntity({
  name: "Price",
  properties: {
    versionId: () => p.manyToOne(PriceVersion).mapToPk().primary().joinColumn("version_id"),
    model: p.string().primary(),
    input: amount(),
    output: amount(),
    /** The operator's rates, around which the live ones move. */
    baseInput: amount(),
    baseOutput: amount(),
    /** The value in the configuration when it last decided: another value there makes a new base. */
    configuredInput: amount(),
    configuredOutput: amount(),
    pinned: p.boolean(),
    /** One of the reasons above. Null: it is older than they are. */
    reason: p.string().$type<PriceReason>().nullable(),
    /** The part of the capacity that was in use when it moved. Null: it did not move by itself. */
    utilisation: p.double().$type<number>().nullable(),
  },
  indexes: [{ properties: ["model", "versionId"] }],
  checks: [
    { name: "price_amounts", expression: "input >= 0 and output >= 0 and base_input >= 0 and base_output >= 0" },
  ],
});
export type Price = InferEntity<typeof Price>;
