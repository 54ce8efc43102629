import type { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { NewAuditEvent } from "#src/identity/audit/audit-trail.ts";
import type { MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import type { PasskeySignIn } from "#src/identity/people/passkeys/passkey-sign-in.ts";
import type { Persons } from "#src/identity/people/persons.ts";
import type { OidcSignIns } from "#src/identity/sessions/oidc/oidc-sign-ins.ts";
import type { Sessions } from "#src/identity/sessions/sessions.ts";
import type { ConsoleSession } from "#src/storage/entities/operators/console-session.ts";
import type { TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";

/** What the methods of sessions need of the rest. */
export interface Dependencies {
  readonly sessions: Sessions;
  /** Makes a key that ends with a session. Throws ACCOUNT_NOT_FOUND and KEY_LIMIT_REACHED. */
  readonly createKey: (accountId: string, session: ConsoleSession) => Promise<{ keyId: string; secret: string }>;
  readonly revokeKey: (keyId: string) => Promise<void>;
  /** The operator's name of a person who signed in by a provider. */
  readonly findPersonName: (personId: string) => Promise<string>;
  /** The name of a stored operator. */
  readonly findName: (operatorId: string) => Promise<string>;
  /** The name of the configured token's operator. */
  readonly rootName: string;
  readonly persons: Pick<Persons, "get" | "accountsOf">;
  /** Sign-in by the configured identity providers. */
  readonly oidc: OidcSignIns;
  /** Undefined: there are no passkeys here. */
  readonly passkeys: PasskeySignIn | undefined;
  /** Undefined: no mail can be sent, or there is no address for its links. */
  readonly mailSignIn: MailSignIn | undefined;
  /** Whether people sign up by themselves. */
  readonly isSignUpOpen: boolean;
  /** Judges which peers are trusted to state the addresses of browsers. */
  readonly trusts: TrustsPeer;
  /** Forgets sessions that have ended, and ends the keys that they made. */
  readonly finish: (ended: readonly ConsoleSession[]) => Promise<void>;
  /** Notes in the audit log what an operator did to sign in. */
  readonly note: (event: NewAuditEvent) => Promise<void>;
  readonly toRole: (role: NonNullable<ConsoleSession["role"]>) => Role;
  readonly readRole: (role: Role) => NonNullable<ConsoleSession["role"]> | undefined;
}
