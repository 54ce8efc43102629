import { MemberRole, type Role } from "#gen/tollgate/access/v1/access_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { requireId } from "#lib/ids/validate-id.ts";
import type { KeyAuthenticator } from "#src/identity/accounts/authenticator.ts";
import type { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import type { AuditTrail } from "#src/identity/audit/audit-trail.ts";
import type { Operators } from "#src/identity/operators/operators.ts";
import type { MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import type { Members } from "#src/identity/people/members.ts";
import type { PasskeySignIn } from "#src/identity/people/passkeys/passkey-sign-in.ts";
import type { Persons } from "#src/identity/people/persons.ts";
import { toMemberRole } from "#src/identity/people/roles.ts";
import type { SignUp } from "#src/identity/people/sign-up.ts";
import { isSessionCookie, isSessionToken } from "#src/identity/sessions/session-token.ts";
import { Sessions } from "#src/identity/sessions/sessions.ts";
import { readRole, toRole } from "#src/services/operators/messages.ts";
import { rootName } from "#src/services/operators/operators-service.ts";
import { createSessionsService } from "#src/services/sessions/sessions-service.ts";
import type { ConsoleSession } from "#src/storage/entities/operators/console-session.ts";
import type { Person } from "#src/storage/entities/people/person.ts";
import { registration, type ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import type { TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";
import type { Operator, SessionFinder } from "#src/wire/principal.ts";
import type { Foundation } from "../foundation.ts";
import { readPicoUsd } from "../money/amount.ts";
import { composeSignIns } from "./sign-ins.ts";

interface Dependencies {
  readonly operators: Operators;
  readonly keys: ApiKeys;
  readonly authenticator: () => KeyAuthenticator;
  readonly accountChanged: (accountId: string) => void;
  readonly persons: Persons;
  readonly members: Members;
  readonly signUp: SignUp;
  readonly passkeySignIn: PasskeySignIn | undefined;
  readonly mailSignIn: MailSignIn | undefined;
  readonly trail: AuditTrail;
  /** Judges which peers are trusted to state the addresses of browsers. */
  readonly trusts: TrustsPeer;
}

/** The name of keys that sessions make. */
const keyName = "console";

interface SessionsPart {
  readonly finder: SessionFinder;
  readonly service: ServiceRegistration;
  /** Ends the sessions of an operator with a token, and the keys that they made. */
  readonly endOperator: (operatorId: string) => Promise<void>;
  readonly stop: () => void;
}

/** Console sessions: finds them by their tokens, and opens and ends them by a service. */
export function composeSessions(foundation: Foundation, parts: Dependencies): SessionsPart {
  const { config, storage, clock, random, secrets, logger } = foundation;
  const { operators, keys, authenticator, accountChanged, persons, signUp, trusts, trail } = parts;
  const mostSpent = Number(readPicoUsd(config.playground.usd));
  const sessions = new Sessions({ storage, clock, random, operatorToken: secrets.operatorToken });
  const revokeKey = async (keyId: string) => accountChanged((await keys.revoke(keyId)).accountId);
  const finish = async (ended: readonly ConsoleSession[]) => {
    for (const { id, keyIds } of ended) {
      authenticator().forgetSession(id);
      for (const keyId of keyIds) {
        await revokeKey(keyId);
      }
    }
  };
  const service = createSessionsService({
    sessions,
    persons,
    async createKey(accountId, session) {
      const { id, expiresAt, personId } = session;
      const limits = personId && !session.role ? { budgetPicoUsd: mostSpent, budgetPeriod: "total" as const } : {};
      const { key, secret } = await keys.create(
        requireId(accountId, "account"),
        keyName,
        { expiresAt, ...limits },
        // Keys of one session share what they may spend, also those that are made at once.
        { endsUntold: true, ...(personId && !session.role && { personId, limitsOf: id }) },
      );
      return { keyId: key.id, secret };
    },
    revokeKey,
    finish,
    findName: async (id) => (await operators.get(id)).name,
    rootName,
    findPersonName: async (id) => toOperatorName(await persons.get(id)),
    oidc: composeSignIns(foundation, {
      signUp,
      endOperator: async (personId, role) => finish(await sessions.endOperator(personId, role)),
    }),
    passkeys: parts.passkeySignIn,
    mailSignIn: parts.mailSignIn,
    isSignUpOpen: signUp.isOpen,
    note: (event) => trail.add(event),
    toRole,
    readRole,
    trusts,
  });
  return {
    service: registration(SessionsService, service),
    endOperator: async (operatorId) => finish(await sessions.end({ operatorId })),
    stop: sessions.filter.start(logger),
    finder: {
      isToken: (text) => isSessionToken(text) || isSessionCookie(text),
      async find(token) {
        const session = await sessions.find(token);
        return session && readLive(session, parts);
      },
    },
  };
}

async function readLive(session: ConsoleSession, parts: Dependencies) {
  const { operators, keys } = parts;
  const { id, expiresAt, accountId, keyId } = session;
  if (session.personId && !session.role) {
    const owner = await readPerson(session.personId, accountId, parts);
    return owner && { id, expiresAt, owner };
  }
  if (accountId) {
    const key = keyId ? await keys.get(keyId) : undefined;
    return { id, expiresAt, owner: { kind: "customer" as const, accountId, key } };
  }
  const operator = await readOperator(session, operators, parts.persons);
  return operator && { id, expiresAt, owner: operator };
}

/** A person and its place in an account. Undefined: the person has lost it, and the session with it. */
async function readPerson(
  personId: string,
  accountId: string | null | undefined,
  { persons, members }: Pick<Dependencies, "persons" | "members">,
) {
  const person = { kind: "person", personId, personName: (await persons.get(personId)).name } as const;
  if (!accountId) {
    return { ...person, accountId: "", memberRole: MemberRole.UNSPECIFIED };
  }
  const place = await members.find(accountId, personId);
  return place && { ...person, accountId, memberRole: toMemberRole(place.role) };
}

/** The name in the audit log of a person whom a provider made an operator: never that of an operator with a token. */
function toOperatorName({ name, email }: Pick<Person, "name" | "email">): string {
  return email ? `${name} <${email}>` : `${name} (by the identity provider)`;
}

/**
 * The operator of a session, with the lower of the session's and the operator's role. Undefined: the operator is
 * revoked.
 */
async function readOperator(
  session: ConsoleSession,
  operators: Operators,
  persons: Persons,
): Promise<Operator | undefined> {
  const role = toRole(session.role ?? "reader");
  if (session.personId) {
    const { personId } = session;
    return { kind: "operator", id: "", name: toOperatorName(await persons.get(personId)), role, personId };
  }
  if (!session.operatorId) {
    return { kind: "operator", id: "", name: rootName, role };
  }
  const { id, name, role: own, revokedAt } = await operators.get(session.operatorId);
  return revokedAt ? undefined : { kind: "operator", id, name, role: Math.min(role, toRole(own)) as Role };
}
