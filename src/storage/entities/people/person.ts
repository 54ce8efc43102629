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
    /** The types of events that the person wants mail about, whatever its role. Null: it has not chosen. */
    mails: p.json<readonly string[]>().nullable(),
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
    /** The issuer's name for the person. Of a passkey: the credential's id. */
    subject: p.string(),
    createdAt: p.datetime(3),
    /** What the person calls a passkey. Null: it is none, as with the other facts of passkeys. */
    name: p.string().nullable(),
    /** What a passkey's signatures are checked with (COSE). */
    publicKey: p.blob().nullable(),
    /** A passkey's signatures so far, as it last told. 0: it does not count. */
    counter: p.bigint("number").nullable(),
    /** When a passkey last signed the person in. Null: it has not yet. */
    usedAt: p.datetime(3).nullable(),
  },
  uniques: [{ properties: ["issuer", "subject"] }],
});
export type Identity = InferEntity<typeof Identity>;

/** Something that signs in once and was used: a challenge, or a link's token. It is kept until it would be too old anyway. */
export const UsedProof = defineEntity({
  name: "UsedProof",
  properties: {
    /** SHA-256 of it, in hexadecimal. */
    id: p.string().primary(),
    until: p.datetime(3).index(),
  },
});
export type UsedProof = InferEntity<typeof UsedProof>;
