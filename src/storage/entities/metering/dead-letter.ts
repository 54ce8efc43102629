import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/**
 * A charge that could not be made, kept until an operator settles or drops it. Its content is text, without keys or
 * checks, so that everything the ledger refuses fits.
 */
export const DeadLetter = defineEntity({
  name: "DeadLetter",
  properties: {
    /** The id of its run, made by `toLetterId` of dead-letters.ts so that every id fits. */
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
