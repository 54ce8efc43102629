import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** A receipt that the receiver of usage events has not taken yet, written with the charge when there is a receiver. */
export const UsageEvent = defineEntity({
  name: "UsageEvent",
  properties: {
    requestId: p.string().primary(),
    runId: p.uuid().primary(),
    /** The time of the charge: receipts are sent in this order. */
    at: p.datetime(3),
  },
  indexes: [{ properties: ["at", "requestId", "runId"] }],
});
export type UsageEvent = InferEntity<typeof UsageEvent>;
