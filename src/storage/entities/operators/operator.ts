import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** The roles of operators. Each may do everything that the ones before it may. */
export const operatorRoles = ["reader", "billing", "owner"] as const;

/** A person who runs the service with a token of their own. The token is stored nowhere, only its digest. */
export const Operator = defineEntity({
  name: "Operator",
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    role: p.enum(operatorRoles),
    /** SHA-256 of the token, which has 256 random bits. */
    digest: p.blob().unique(),
    createdAt: p.datetime(3),
    /** Null: not revoked. */
    revokedAt: p.datetime(3).nullable(),
  },
  // A name is free again once its operator is revoked.
  indexes: [{ name: "operator_live_name", properties: ["name"], where: "revoked_at is null" }],
});
export type Operator = InferEntity<typeof Operator>;
