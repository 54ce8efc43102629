import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { requireId } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import type { Owner } from "#src/identity/sessions/sessions.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import type { Principal } from "#src/wire/principal.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Openings } from "./openings.ts";
import { requireRole } from "./require-role.ts";

type Methods = Pick<
  ServiceImpl<typeof SessionsService>,
  "createSession" | "getSession" | "endSession" | "listSessions" | "endSessions" | "createSessionKey" | "switchAccount"
>;

/** Sessions that are open: of a credential, listed, ended, with keys of their own, in another account. */
export function createSessionMethods(deps: Dependencies, { describe, opened, openedBy }: Openings): Methods {
  const { sessions, finish } = deps;

  const ownerOf = (principal: Principal): Owner => {
    if (principal.sessionId !== undefined) {
      throw failure(Reason.PERMISSION_DENIED, "A session opens no other one.");
    }
    if (principal.kind === "operator") {
      const { id, role } = principal;
      return { role: requireRole(deps, role), operatorId: id || null, accountId: null, keyId: null, personId: null };
    }
    const { accountId, keyId } = principal;
    if (keyId === "") {
      throw failure(Reason.PERMISSION_DENIED, "A session needs an API key or an operator's token.");
    }
    return { role: null, operatorId: null, accountId, keyId, personId: null };
  };

  return {
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
      await sessions.addKey(session.id, keyId).catch(async (error: unknown) => {
        await deps.revokeKey(keyId); // the session has ended meanwhile, and would not end it
        throw error;
      });
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
      const owner = { role: null, operatorId: null, accountId, keyId: null, personId };
      const next = await sessions.create(owner, session.expiresAt); // nobody stays by switching
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
