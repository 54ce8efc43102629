import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { memberRoles } from "./member.ts";

/** An invitation into an account, good once. Its token is stored nowhere, only its digest. */
export const Invitation = defineEntity({
  name: "Invitation",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id").index(),
    role: p.enum(memberRoles),
    /** The only address that may use it, in lower case. Null: whoever has its token may. */
    email: p.string().nullable(),
    /** SHA-256 of the token. */
    digest: p.blob().unique(),
    /** The member who invited. Null: an operator. */
    invitedBy: p.uuid().nullable(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
    /** Null: it was not used. */
    usedAt: p.datetime(3).nullable(),
    /** The person who used it. Null: nobody did. */
    usedBy: p.uuid().nullable(),
  },
});
export type Invitation = InferEntity<typeof Invitation>;
