import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/**
 * A change that an operator, a member or a management key made. Triggers of both databases refuse to change or delete a
 * row.
 */
export const AuditEvent = defineEntity({
  name: "AuditEvent",
  properties: {
    id: p.uuid().primary(),
    at: p.datetime(3),
    /** The operator's or the person's name at that time. Of a management key: "key" and its id. */
    operator: p.string(),
    /** Null: the operator of the configured token, a member or a key. */
    operatorId: p.uuid().nullable(),
    /** The management key. Null: somebody else made the change. */
    keyId: p.uuid().nullable(),
    /** The person. Null: somebody else made the change. */
    personId: p.uuid().nullable(),
    /** The account whose owners see the change. Null: operators alone see it. */
    accountId: p.uuid().nullable(),
    method: p.string(),
    target: p.string(),
    /** JSON. Null: nothing was replaced. */
    before: p.text().nullable(),
    /** JSON. */
    after: p.text(),
    address: p.string(),
  },
  indexes: [
    { properties: ["at", "id"] },
    { properties: ["accountId", "at", "id"] },
    { properties: ["target", "at", "id"] },
    { properties: ["operator", "at", "id"] },
  ],
});
export type AuditEvent = InferEntity<typeof AuditEvent>;
