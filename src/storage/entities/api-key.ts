import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "./account.ts";

/** A key of an account. The secret itself is nowhere, only its keyed digest. */
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
    /** Requests a minute for this key alone. Null: the account's tier decides. */
    rpm: p.integer().nullable(),
    createdAt: p.datetime(3),
    /** Null: never. */
    expiresAt: p.datetime(3).nullable(),
    /** Null: it was not. */
    revokedAt: p.datetime(3).nullable(),
    /** To about a minute. Null: never. */
    lastUsedAt: p.datetime(3).nullable(),
    /** The key that takes this one's place. Null: none. */
    rotatedTo: p.uuid().nullable(),
    /** The key whose place this one takes. Null: none. */
    rotatedFrom: p.uuid().nullable(),
    /** The request that made it, so that sent again it makes no other. Null: it had no id. */
    requestId: p.string().nullable(),
  },
  uniques: [{ properties: ["accountId", "requestId"] }],
});
export type ApiKey = InferEntity<typeof ApiKey>;
