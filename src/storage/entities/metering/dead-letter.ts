import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/**
 * A charge that could not be made, kept until an operator settles or drops it. What it says is text alone, without
 * keys or checks, so that whatever the ledger refuses has a place here.
 */
export const DeadLetter = defineEntity({
  name: "DeadLetter",
  properties: {
    /** The request's id, spelled so that every id fits (see dead-letters.ts). */
    id: p.string().primary(),
    /** The charge as JSON. */
    charge: p.text(),
    /** Why it could not be made, for people. */
    reason: p.text(),
    /** The core that gave it up. */
    coreId: p.string(),
    at: p.datetime(3),
  },
});
export type DeadLetter = InferEntity<typeof DeadLetter>;
