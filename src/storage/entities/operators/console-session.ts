import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { operatorRoles } from "./operator.ts";

/** A link that signs an operator in once. Its token is stored nowhere, only its digest. */
export const SignInLink = defineEntity({
  name: "SignInLink",
  properties: {
    id: p.uuid().primary(),
    /** SHA-256 of the token and of what it is bound to. */
    digest: p.blob().unique(),
    role: p.enum(operatorRoles),
    /** Null: the operator of the configured token. */
    operatorId: p.uuid().nullable(),
    expiresAt: p.datetime(3).index(),
  },
});
export type SignInLink = InferEntity<typeof SignInLink>;

/** A console session. Its token is stored nowhere, only its digest. */
export const ConsoleSession = defineEntity({
  name: "ConsoleSession",
  properties: {
    id: p.uuid().primary(),
    /** SHA-256 of the token and of what it is bound to. */
    digest: p.blob().unique(),
    /** The most that an operator may do in it. Null: a customer's session. */
    role: p.enum(operatorRoles).nullable(),
    /** Null: the operator of the configured token, or a customer's session. */
    operatorId: p.uuid().nullable(),
    /** The account that a customer sees. Null: an operator's session, or that of a person without an account. */
    accountId: p.uuid().nullable().index(),
    /** The person who signed in. Null: an operator with a token, or a customer with a key. */
    personId: p.uuid().nullable().index(),
    /** The key that a customer signed in with; the session ends with it. Null: none. */
    keyId: p.uuid().nullable(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index(),
    /** Keys that end with the session. */
    keyIds: p.json<readonly string[]>(),
  },
});
export type ConsoleSession = InferEntity<typeof ConsoleSession>;
