import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { Account } from "../account.ts";
import { Person } from "./person.ts";

/** The roles of members. Each may do everything that the ones before it may. */
export const memberRoles = ["viewer", "developer", "owner"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** A person's place in an account. */
export const Member = defineEntity({
  name: "Member",
  properties: {
    id: p.uuid().primary(),
    accountId: () => p.manyToOne(Account).mapToPk().joinColumn("account_id"),
    personId: () => p.manyToOne(Person).mapToPk().joinColumn("person_id").index(),
    role: p.enum(memberRoles),
    createdAt: p.datetime(3),
  },
  uniques: [{ properties: ["accountId", "personId"] }],
});
export type Member = InferEntity<typeof Member>;
