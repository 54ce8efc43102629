import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { operatorRoles } from "./operator.ts";

/** A link that signs an operator in once. Its token is nowhere, only its digest. */
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

/** Somebody's stay in the console. Its token is nowhere, only its digest. */
export const ConsoleSession = defineEntity({
  name: "ConsoleSession",
  properties: {
    id: p.uuid().primary(),
    /** SHA-256 of the token and of what it is bound to. */
    digest: p.blob().unique(),
    /** The most that an operator may do in it. Null: it is a customer's. */
    role: p.enum(operatorRoles).nullable(),
    /** Null: the operator of the configured token, or a customer's. */
    operatorId: p.uuid().nullable(),
    /** The account that a customer sees. Null: it is an operator's. */
    accountId: p.uuid().nullable(),
    /** The key that a customer signed in with, without which the session ends. Null: none. */
    keyId: p.uuid().nullable(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index(),
    /** Keys that end with it. */
    keyIds: p.json<readonly string[]>(),
  },
});
export type ConsoleSession = InferEntity<typeof ConsoleSession>;
