import type { NewPasskey } from "./passkeys/passkeys.ts";

/** The kinds of identities. */
export const identityKinds = ["oidc", "email", "passkey"] as const;
export type IdentityKind = (typeof identityKinds)[number];

/** Somebody who has just proved an identity, and what the one who vouches for it tells. */
export interface Arrival {
  readonly kind: IdentityKind;
  /** Who vouches for the subject. */
  readonly issuer: string;
  readonly subject: string;
  /** What the person is called. */
  readonly name: string;
  /** Null: none is told. */
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** The id of the person's account, as the issuer tells it. Undefined: it tells none. */
  readonly claimed: string | undefined;
  /** The id of the request that made an account for this identity before there were people. Undefined: none can have. */
  readonly madeBy: string | undefined;
  /** The passkey that was made for it. Absent: none was, or it was there before. */
  readonly credential?: NewPasskey;
  /** The browser's address. */
  readonly address: string;
  /** The called method, for the audit log. */
  readonly method: string;
}

/** A person who signed in, and the account that is opened. */
export interface Entrance {
  readonly personId: string;
  /** Null: the person has none. */
  readonly accountId: string | null;
}
