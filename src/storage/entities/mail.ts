import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** The state of a mail. failed: given up. */
export const mailStatuses = ["pending", "sent", "failed"] as const;

/** A mail to one address. */
export const Mail = defineEntity({
  name: "Mail",
  properties: {
    id: p.uuid().primary(),
    kind: p.string(),
    address: p.string(),
    /** The event that it tells of. Null: somebody asked for it. */
    eventId: p.uuid().nullable(),
    /** The network of whoever asked for it. Null: nobody did, or it is not known. */
    network: p.string().nullable(),
    /** What its template is filled with, as JSON sealed by a key pepper. Empty once it is over. */
    content: p.text(),
    at: p.datetime(3),
    /** When it is given up. */
    until: p.datetime(3),
    status: p.enum(mailStatuses),
    attempts: p.integer(),
    /** Null: it is over. */
    nextAt: p.datetime(3).nullable(),
    /** Null: not tried yet. */
    firstAt: p.datetime(3).nullable(),
    error: p.text(),
  },
  uniques: [{ properties: ["eventId", "address"] }],
  indexes: [
    { name: "mail_due", properties: ["nextAt"], where: "status = 'pending'" },
    { properties: ["address", "at"] },
    { properties: ["network", "at"] },
    { properties: ["at"] },
    { name: "mail_failed", properties: ["at"], where: "status = 'failed'" },
  ],
});
export type Mail = InferEntity<typeof Mail>;
