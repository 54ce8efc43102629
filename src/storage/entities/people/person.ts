import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** Somebody who signs in. Who pays is an account, of which a person is a member. */
export const Person = defineEntity({
  name: "Person",
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    /** In lower case, as the last sign-in told it. Null: none is known. */
    email: p.string().nullable(),
    /** Whether whoever told the address has seen that it is the person's. */
    emailVerified: p.boolean(),
    createdAt: p.datetime(3),
  },
});
export type Person = InferEntity<typeof Person>;

/** What a person is known by at a sign-in. Identities are never joined by an e-mail address alone. */
export const Identity = defineEntity({
  name: "Identity",
  properties: {
    id: p.uuid().primary(),
    personId: () => p.manyToOne(Person).mapToPk().joinColumn("person_id").index(),
    /** Who vouches for the subject. */
    issuer: p.string(),
    /** The issuer's name for the person. */
    subject: p.string(),
    createdAt: p.datetime(3),
  },
  uniques: [{ properties: ["issuer", "subject"] }],
});
export type Identity = InferEntity<typeof Identity>;
