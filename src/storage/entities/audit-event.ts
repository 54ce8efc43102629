import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** A change that an operator or a management key made. Triggers of both databases refuse to change or delete a row. */
export const AuditEvent = defineEntity({
  name: "AuditEvent",
  properties: {
    id: p.uuid().primary(),
    at: p.datetime(3),
    /** The operator's name at that time. Of a management key: "key" and its id. */
    operator: p.string(),
    /** Null: the operator of the configured token, or a key. */
    operatorId: p.uuid().nullable(),
    /** The management key. Null: an operator made the change. */
    keyId: p.uuid().nullable(),
    method: p.string(),
    target: p.string(),
    /** JSON. Null: nothing was replaced. */
    before: p.text().nullable(),
    /** JSON. */
    after: p.text(),
    address: p.string(),
  },
  indexes: [{ properties: ["at", "id"] }],
});
export type AuditEvent = InferEntity<typeof AuditEvent>;
