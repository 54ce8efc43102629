import { validate as isUuid } from "uuid";
import type { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { requireId } from "#lib/ids/validate-id.ts";
import { createSeal } from "#lib/sealed.ts";
import type { Accounts } from "#src/identity/accounts/accounts.ts";
import type { KeyAuthenticator } from "#src/identity/accounts/authenticator.ts";
import type { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import type { AuditTrail } from "#src/identity/audit/audit-trail.ts";
import type { Operators } from "#src/identity/operators/operators.ts";
import { OidcSignIn } from "#src/identity/sessions/oidc/oidc-sign-in.ts";
import { Provider } from "#src/identity/sessions/oidc/provider.ts";
import { isSessionToken } from "#src/identity/sessions/session-token.ts";
import { Sessions } from "#src/identity/sessions/sessions.ts";
import { readRole, toRole } from "#src/services/operator-messages.ts";
import { rootName } from "#src/services/operators-service.ts";
import { createSessionsService } from "#src/services/sessions-service.ts";
import type { ConsoleSession } from "#src/storage/entities/console-session.ts";
import { registration, type ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import type { TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";
import type { Operator, SessionFinder } from "#src/wire/principal.ts";
import type { Foundation } from "./foundation.ts";

interface Dependencies {
  readonly operators: Operators;
  readonly keys: ApiKeys;
  readonly authenticator: () => KeyAuthenticator;
  readonly accountChanged: (accountId: string) => void;
  readonly accounts: Accounts;
  readonly trail: AuditTrail;
  /** Judges which peers are trusted to state the addresses of browsers. */
  readonly trusts: TrustsPeer;
  /** Makes an account with the free tier's money. */
  readonly openAccount: (account: {
    readonly id: string;
    readonly name: string;
    readonly maxKeys: number;
    readonly requestId: string;
  }) => Promise<unknown>;
}

/** The name of keys that sessions make. */
const keyName = "console";

/** Console sessions: finds them by their tokens, and opens and ends them by a service. */
export function composeSessions(
  foundation: Foundation,
  { operators, keys, authenticator, accountChanged, accounts, openAccount, trusts, trail }: Dependencies,
): { finder: SessionFinder; service: ServiceRegistration; stop: () => void } {
  const { storage, clock, random, secrets, logger } = foundation;
  const sessions = new Sessions({ storage, clock, random, operatorToken: secrets.operatorToken });
  const service = createSessionsService({
    sessions,
    async createKey(accountId, expiresAt) {
      const { key, secret } = await keys.create(requireId(accountId, "account"), keyName, { expiresAt });
      return { keyId: key.id, secret };
    },
    async revokeKey(keyId) {
      accountChanged((await keys.revoke(keyId)).accountId);
    },
    findName: async (id) => (await operators.get(id)).name,
    rootName,
    oidc: composeOidc(foundation, { accounts, openAccount }),
    ended: (id) => authenticator().forgetSession(id),
    note: (event) => trail.add(event),
    toRole,
    readRole,
    trusts,
  });
  return {
    service: registration(SessionsService, service),
    stop: sessions.filter.start(logger),
    finder: {
      isToken: isSessionToken,
      async find(token) {
        const session = await sessions.find(token);
        return session && readLive(session, operators, keys);
      },
    },
  };
}

/** Sign-in by the configured identity provider. Undefined: none is configured. */
function composeOidc(
  { config, secrets, clock, random, logger }: Foundation,
  { accounts, openAccount }: Pick<Dependencies, "accounts" | "openAccount">,
): OidcSignIn | undefined {
  const { oidc } = config.sign_in;
  if (oidc === undefined) {
    return undefined;
  }
  const findMade = async (requestId: string) => (await accounts.madeBy(requestId))?.id;
  return new OidcSignIn({
    provider: new Provider(oidc, secrets.oidcClientSecret),
    issuer: oidc.issuer,
    name: oidc.name ?? new URL(oidc.issuer).host,
    accountClaim: oidc.account_claim,
    createsAccounts: oidc.create_accounts,
    findMade,
    exists: async (id) => isUuid(id) && (await accounts.find(id)) !== undefined,
    async create(name, requestId) {
      const id = random.uuid();
      try {
        await openAccount({ id, name, maxKeys: config.keys.max_per_account, requestId });
        return id;
      } catch (error) {
        // The person signed in twice at once: the database lets only one call make the account.
        const other = await findMade(requestId);
        if (other === undefined) {
          throw error;
        }
        return other;
      }
    },
    seal: createSeal(secrets.peppers, random),
    clock,
    logger,
  });
}

async function readLive(session: ConsoleSession, operators: Operators, keys: ApiKeys) {
  const { id, expiresAt, accountId, keyId } = session;
  if (accountId) {
    const key = keyId ? await keys.get(keyId) : undefined;
    return { id, expiresAt, owner: { kind: "customer" as const, accountId, key } };
  }
  const operator = await readOperator(session, operators);
  return operator && { id, expiresAt, owner: operator };
}

/**
 * The operator of a session, with the lower of the session's and the operator's role. Undefined: the operator is
 * revoked.
 */
async function readOperator(session: ConsoleSession, operators: Operators): Promise<Operator | undefined> {
  const role = toRole(session.role ?? "reader");
  if (!session.operatorId) {
    return { kind: "operator", id: "", name: rootName, role };
  }
  const { id, name, role: own, revokedAt } = await operators.get(session.operatorId);
  return revokedAt ? undefined : { kind: "operator", id, name, role: Math.min(role, toRole(own)) as Role };
}
