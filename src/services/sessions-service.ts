import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type SessionSchema, SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import { isAddress } from "#src/delivery/mail/mail-box.ts";
import type { NewAuditEvent } from "#src/identity/audit/audit-trail.ts";
import type { Entrance } from "#src/identity/people/arrival.ts";
import type { MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import type { PasskeySignIn } from "#src/identity/people/passkeys/passkey-sign-in.ts";
import type { Persons } from "#src/identity/people/persons.ts";
import { toMemberRole } from "#src/identity/people/roles.ts";
import type { OidcSignIns } from "#src/identity/sessions/oidc/oidc-sign-ins.ts";
import type { NewSession, Owner, Sessions } from "#src/identity/sessions/sessions.ts";
import type { ConsoleSession } from "#src/storage/entities/console-session.ts";
import { readClientAddress, type TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";
import { readPrincipal, readTokenHolder, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import type { Operator, Principal } from "#src/wire/principal.ts";

interface Dependencies {
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
  /** Called with each session that ended here. */
  readonly ended: (sessionId: string) => void;
  /** Notes in the audit log what an operator did to sign in. */
  readonly note: (event: NewAuditEvent) => Promise<void>;
  readonly toRole: (role: NonNullable<ConsoleSession["role"]>) => Role;
  readonly readRole: (role: Role) => NonNullable<ConsoleSession["role"]> | undefined;
}

/** Signs people in to the console and out of it. */
export function createSessionsService(deps: Dependencies): ServiceImpl<typeof SessionsService> {
  const { sessions } = deps;

  const describe = async (session: ConsoleSession): Promise<MessageInitShape<typeof SessionSchema>> => ({
    id: session.id,
    role: session.role ? deps.toRole(session.role) : Role.UNSPECIFIED,
    operatorName: session.role ? await nameOf(session) : "",
    personId: session.personId ?? "",
    ...(session.personId && !session.role && (await describePlace(session.personId, session.accountId))),
    accountId: session.accountId ?? "",
    keyId: session.keyId ?? "",
    expiresAt: timestampFromDate(session.expiresAt),
    createdAt: timestampFromDate(session.createdAt),
  });

  const describePlace = async (personId: string, accountId: string | null | undefined) => {
    const [{ name: personName }, places] = await Promise.all([
      deps.persons.get(personId),
      deps.persons.accountsOf(personId),
    ]);
    const place = places.find((one) => one.accountId === accountId);
    return { personName, ...(place && { memberRole: toMemberRole(place.role) }) };
  };

  const nameOf = async (session: ConsoleSession) => {
    if (session.personId) {
      return deps.findPersonName(session.personId);
    }
    return session.operatorId ? deps.findName(session.operatorId) : deps.rootName;
  };

  const opened = async ({ session, ...credentials }: NewSession) => ({
    session: await describe(session),
    ...credentials,
  });

  /** Notes the sign-in of an operator. */
  const openedBy = async (
    answer: NewSession,
    { requestHeader: header, values: contextValues, method }: HandlerContext,
  ) => {
    const described = await opened(answer);
    const { id, operatorName, role = Role.UNSPECIFIED } = described.session;
    if (role !== Role.UNSPECIFIED) {
      await deps.note({
        operator: String(operatorName),
        operatorId: answer.session.operatorId ?? null,
        keyId: null,
        personId: answer.session.personId ?? null,
        method: `${SessionsService.typeName}/${method.name}`,
        target: String(id),
        before: undefined,
        after: { role: Role[role] },
        address: readClientAddress({ header, contextValues }, deps.trusts),
      });
    }
    return described;
  };

  const openedFor = async (entrance: Entrance) =>
    opened(await sessions.create({ role: null, operatorId: null, keyId: null, ...entrance }));

  const callOf = ({ requestHeader: header, values: contextValues, method }: HandlerContext) => ({
    address: readClientAddress({ header, contextValues }, deps.trusts),
    method: `${SessionsService.typeName}/${method.name}`,
  });

  const requirePasskeys = (): PasskeySignIn => {
    if (deps.passkeys === undefined) {
      throw failure(Reason.UNSUPPORTED, "There are no passkeys here (sign_in.passkeys).");
    }
    return deps.passkeys;
  };

  const requireMail = (): MailSignIn => {
    if (deps.mailSignIn === undefined) {
      throw failure(Reason.UNSUPPORTED, "Nobody signs in by mail here (mail and site.address).");
    }
    return deps.mailSignIn;
  };

  /** Forgets sessions that have ended, and ends what they made. */
  const finish = async (ended: readonly ConsoleSession[]) => {
    for (const { id, keyIds } of ended) {
      deps.ended(id);
      for (const keyId of keyIds) {
        await deps.revokeKey(keyId);
      }
    }
  };

  const requireRole = (role: Role) => {
    const named = deps.readRole(role);
    if (named === undefined) {
      throw failure(Reason.INVALID_ARGUMENT, "role must be ROLE_READER, ROLE_BILLING or ROLE_OWNER.", {
        parameter: "role",
      });
    }
    return named;
  };

  const ownerOf = (principal: Principal): Owner => {
    if (principal.sessionId !== undefined) {
      throw failure(Reason.PERMISSION_DENIED, "A session opens no other one.");
    }
    if (principal.kind === "operator") {
      const { id, role } = principal;
      return { role: requireRole(role), operatorId: id || null, accountId: null, keyId: null, personId: null };
    }
    const { accountId, keyId } = principal;
    if (keyId === "") {
      throw failure(Reason.PERMISSION_DENIED, "A session needs an API key or an operator's token.");
    }
    return { role: null, operatorId: null, accountId, keyId, personId: null };
  };

  return {
    async createSignInLink({ role }, context) {
      const operator = readTokenHolder(context);
      const wanted = role === Role.UNSPECIFIED ? operator.role : role;
      const named = requireRole(wanted);
      requireAtMost(wanted, operator);
      const { token, expiresAt } = await sessions.createLink({ role: named, operatorId: operator.id || null });
      const { requestHeader: header, values: contextValues } = context;
      await deps.note({
        operator: operator.name,
        operatorId: operator.id || null,
        keyId: null,
        method: `${SessionsService.typeName}/${context.method.name}`,
        target: "",
        before: undefined,
        after: { role: Role[wanted] },
        address: readClientAddress({ header, contextValues }, deps.trusts),
      });
      return { token, expiresAt: timestampFromDate(expiresAt) };
    },

    async redeemSignInLink({ token }, context) {
      return openedBy(await sessions.redeem(token), context);
    },

    getSignInOptions() {
      const { choices } = deps.oidc;
      return {
        oidcName: choices.find((one) => !one.forOperators)?.name ?? "",
        providers: [...choices],
        passkeyHost: deps.passkeys?.host ?? "",
        signUp: deps.isSignUpOpen,
        mail: deps.mailSignIn !== undefined,
      };
    },

    beginOidcSignIn: ({ provider, redirectUrl }) => deps.oidc.begin(provider, redirectUrl),

    async finishOidcSignIn({ callbackUrl, pending }, context) {
      const { requestHeader: header, values: contextValues } = context;
      const address = readClientAddress({ header, contextValues }, deps.trusts);
      return openedBy(await sessions.create(await deps.oidc.finish(callbackUrl, pending, address)), context);
    },

    beginPasskeySignUp: ({ name }) => requirePasskeys().beginSignUp(name),

    async finishPasskeySignUp({ credentialJson, pending }, context) {
      return openedFor(await requirePasskeys().finishSignUp(credentialJson, pending, callOf(context)));
    },

    beginPasskeySignIn: () => requirePasskeys().begin(),

    async finishPasskeySignIn({ credentialJson, pending }, context) {
      return openedFor(await requirePasskeys().finish(credentialJson, pending, callOf(context)));
    },

    beginMailSignIn({ email }, context) {
      if (!isAddress(email)) {
        throw invalid("email", "email must be an e-mail address.");
      }
      return requireMail().begin(email, callOf(context).address);
    },

    async finishMailSignIn({ token, pending }, context) {
      return openedFor(await requireMail().finish(token, pending, callOf(context)));
    },

    async createSession(_, context) {
      return openedBy(await sessions.create(ownerOf(readPrincipal(context))), context);
    },

    async getSession(_, context) {
      return { session: await describe(await sessions.get(toSession(context))) };
    },

    async endSession(_, context) {
      await finish(await sessions.end({ id: toSession(context) }));
      return {};
    },

    async listSessions({ accountId, ...request }) {
      const { entries, nextPageToken } = await readPage(
        `sessions of ${accountId || "everybody"}`,
        request,
        (start) => sessions.list(accountId === "" ? undefined : requireId(accountId, "account"), start),
        ({ id }) => id,
        isUuid,
      );
      return { sessions: await Promise.all(entries.map(describe)), nextPageToken };
    },

    async endSessions({ sessionId, accountId }) {
      if ((sessionId === "") === (accountId === "")) {
        throw failure(Reason.INVALID_ARGUMENT, "Name a session or an account: session_id or account_id.", {
          parameter: "session_id",
        });
      }
      if (sessionId !== "" && !isUuid(sessionId)) {
        return { ended: 0 };
      }
      const ended = await sessions.end(
        sessionId === "" ? { accountId: requireId(accountId, "account") } : { id: sessionId },
      );
      await finish(ended);
      return { ended: ended.length };
    },

    async createSessionKey({ accountId }, context) {
      const session = await sessions.get(toSession(context));
      const { keyId, secret } = await deps.createKey(visibleAccount(context, accountId), session);
      await sessions.addKey(session.id, keyId);
      return { keyId, secret };
    },

    async switchAccount({ accountId: wanted }, context) {
      const accountId = requireId(wanted, "account");
      const session = await sessions.get(toSession(context));
      const personId = session.personId ?? "";
      const places = await deps.persons.accountsOf(personId);
      if (!places.some((place) => place.accountId === accountId)) {
        throw failure(Reason.ACCOUNT_NOT_FOUND, "You have no place in such an account.");
      }
      const next = await sessions.create({ role: null, operatorId: null, accountId, keyId: null, personId });
      await finish(await sessions.end({ id: session.id }));
      return opened(next);
    },
  };
}

/** The id of the caller's session. Throws PERMISSION_DENIED for other credentials. */
function toSession(context: Pick<HandlerContext, "values">): string {
  const { sessionId } = readPrincipal(context);
  if (sessionId === undefined) {
    throw failure(Reason.PERMISSION_DENIED, "This call is for sessions of the console.");
  }
  return sessionId;
}

function requireAtMost(wanted: Role, { name, role }: Operator): void {
  if (wanted > role) {
    throw failure(
      Reason.PERMISSION_DENIED,
      `The operator ${name} has the role ${Role[role].toLowerCase()} and gives no higher one.`,
    );
  }
}
