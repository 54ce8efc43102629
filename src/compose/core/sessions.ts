import type { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import type { KeyAuthenticator } from "../../accounts/authenticator.ts";
import type { Operator, SessionFinder } from "../../accounts/interface.ts";
import type { ApiKeys } from "../../accounts/keys/api-keys.ts";
import { requireId } from "../../accounts/validate.ts";
import { registration, type ServiceRegistration } from "../../grpc/server/registration.ts";
import { readRole, toRole } from "../../operators/messages.ts";
import type { Operators } from "../../operators/operators.ts";
import { rootName } from "../../operators/operators-service.ts";
import { isSessionToken } from "../../sessions/session-token.ts";
import { Sessions } from "../../sessions/sessions.ts";
import { createSessionsService } from "../../sessions/sessions-service.ts";
import type { ConsoleSession } from "../../storage/entities/console-session.ts";
import type { Foundation } from "./foundation.ts";

/** Dependencies. */
interface SessionsParts {
  readonly operators: Operators;
  readonly keys: ApiKeys;
  readonly authenticator: () => KeyAuthenticator;
  readonly accountChanged: (accountId: string) => void;
}

/** What the name of a key says that a session has made. */
const keyName = "console";

/** Sessions of the console: how they are found by their tokens, and the service that opens and ends them. */
export function composeSessions(
  { storage, clock, random, secrets }: Foundation,
  { operators, keys, authenticator, accountChanged }: SessionsParts,
): { finder: SessionFinder; service: ServiceRegistration } {
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
    ended: (id) => authenticator().forgetSession(id),
    ...{ toRole, readRole },
  });
  return {
    service: registration(SessionsService, service),
    finder: {
      isToken: isSessionToken,
      async find(token) {
        const session = await sessions.find(token);
        return session && readLive(session, operators, keys);
      },
    },
  };
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

/** The operator of a session, who may do what the session and the operator may. Undefined: the operator is revoked. */
async function readOperator(session: ConsoleSession, operators: Operators): Promise<Operator | undefined> {
  const role = toRole(session.role ?? "reader");
  if (!session.operatorId) {
    return { kind: "operator", id: "", name: rootName, role };
  }
  const { id, name, role: own, revokedAt } = await operators.get(session.operatorId);
  return revokedAt ? undefined : { kind: "operator", id, name, role: Math.min(role, toRole(own)) as Role };
}
