import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/**
 * How much of something there was in a minute or an hour, over all models and cores: what plots of the overview are drawn
 * from. No request waits for it.
 */
export const ServiceStep = defineEntity({
  name: "ServiceStep",
  properties: {
    /** The length of the step in seconds. */
    seconds: p.integer().primary(),
    /** Whole steps since 1970. */
    at: p.integer().primary(),
    /** Such as "output_tokens" or "refused_RATE_LIMITED". */
    measure: p.string().primary(),
    count: p.bigint("number"),
  },
});
export type ServiceStep = InferEntity<typeof ServiceStep>;
