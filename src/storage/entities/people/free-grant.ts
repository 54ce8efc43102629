import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** Why a new account got no free money. */
export const grantRefusals = ["identity", "email", "network"] as const;
export type GrantRefusal = (typeof grantRefusals)[number];

/** The free money of a person's account: given once, or refused. Unique columns are null where it was refused. */
export const FreeGrant = defineEntity({
  name: "FreeGrant",
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    personId: p.uuid(),
    at: p.datetime(3),
    /** The person who had it. */
    grantedTo: p.uuid().nullable().unique(),
    /** The verified e-mail address that had it, in lower case. Null: none is known. */
    email: p.string().nullable().unique(),
    /** The network that the person signed up from. */
    network: p.string(),
    /** The day of the sign-up in UTC, such as 2026-01-31. */
    day: p.string(),
    /** Counts the network's grants of that day, from 1. */
    ordinal: p.integer().nullable(),
    /** Null: it was given. */
    refused: p.enum(grantRefusals).nullable(),
  },
  uniques: [{ properties: ["network", "day", "ordinal"] }],
});
export type FreeGrant = InferEntity<typeof FreeGrant>;
