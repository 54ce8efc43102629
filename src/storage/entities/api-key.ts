import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "./account.ts";
import { KeyLimits } from "./key-limits.ts";

/** A key of an account. The secret is stored nowhere, only its keyed digest. */
export const ApiKey = defineEntity({
  name: "ApiKey",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id").index(),
    name: p.string(),
    /** HMAC-SHA256 of the secret under the pepper of that version. */
    digest: p.blob().unique(),
    pepperVersion: p.integer(),
    /** The first characters of the secret, for people. */
    prefix: p.string(),
    /** The last four characters of the secret, for people. */
    last4: p.string(),
    limits: () => p.embedded(KeyLimits).prefix(false),
    createdAt: p.datetime(3),
    /** Null: it was not revoked. */
    revokedAt: p.datetime(3).nullable(),
    /** Exact to about a minute. Null: never used. */
    lastUsedAt: p.datetime(3).nullable(),
    /** The key that replaces this one. Null: none. */
    rotatedTo: p.uuid().nullable(),
    /** The key that this one replaces. Null: none. */
    rotatedFrom: p.uuid().nullable(),
    /** The id of the request that made it, so that the request sent again makes no other. Null: it had no id. */
    requestId: p.string().nullable(),
    /**
     * The first key of its chain of rotations, or a session that made it: all such keys share one budget and its counters.
     * Null: this key.
     */
    limitsOf: p.uuid().nullable(),
    /** Whether it manages its account's keys, and runs no inference. Never changed. */
    manages: p.boolean().default(false),
    /** The member who made it; one that manages ends with its maker's place in the account. Null: an operator. */
    personId: p.uuid().nullable(),
    /** Whether it is refused until it is enabled again. */
    disabled: p.boolean().default(false),
    /** When its label or limits were last changed. Null: never. */
    updatedAt: p.datetime(3).nullable(),
    /** When its account is told that it ends soon. Null: it was told, or never is. */
    warnAt: p.datetime(3).nullable(),
  },
  indexes: [
    // Budgets are counted every minute, and most keys have none.
    { properties: ["id"], where: "budget is not null" },
    { properties: ["lastUsedAt", "id"] },
    { properties: ["warnAt"], where: "warn_at is not null" },
    { properties: ["last4"] },
    { properties: ["prefix"] },
  ],
  uniques: [{ properties: ["accountId", "requestId"] }],
});
export type ApiKey = InferEntity<typeof ApiKey>;
