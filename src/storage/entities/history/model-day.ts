import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** How often something happened to requests of a model on a day: some dozen rows for each, which no request waits for. */
export const ModelDay = defineEntity({
  name: "ModelDay",
  properties: {
    /** Whole days since 1970 in UTC. */
    day: p.integer().primary(),
    model: p.string().primary(),
    /** "served", "failed", "refused", or a bucket of times to the first token. */
    measure: p.string().primary(),
    count: p.bigint("number"),
  },
});
export type ModelDay = InferEntity<typeof ModelDay>;
