import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Interceptor, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { Access, MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import type { Logger } from "#lib/logger.ts";
import { isForPeople } from "#lib/rpc/for-people.ts";
import type { Next } from "#src/wire/grpc/apply-interceptors.ts";
import { readClientAddress, type TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { readAccess, readMemberRole, readRole } from "#src/wire/interceptors/access/required-access.ts";
import { type Change, type ChangeFacts, changeKey } from "#src/wire/interceptors/changes/change.ts";
import { toPublicJson } from "#src/wire/interceptors/changes/public-json.ts";
import type { Caller, Principal } from "#src/wire/principal.ts";
import type { AuditTrail, NewAuditEvent } from "./audit-trail.ts";

interface Dependencies {
  readonly trail: Pick<AuditTrail, "add" | "addWithin">;
  readonly trusts: TrustsPeer;
  readonly logger: Logger;
  /** Called for a change that was made but could not be noted. */
  readonly lost: () => void;
}

/**
 * Notes every change that an operator or a member makes: each call of a method whose least role is above the reader's,
 * and each by which a person changes itself. When money moves, the handler notes the change in the money's own
 * transaction. Any other change is noted as soon as it is
 * made. Comes after the interceptor that identifies the caller.
 */
export function recordChanges({ trail, trusts, logger, lost }: Dependencies): Interceptor {
  const record = async (next: Next, request: UnaryRequest, principal: Principal) => {
    const asked = toPublicJson(request.method.input, request.message);
    const head = readHead(request, principal, trusts);
    const change: Change = {
      settled: false,
      note: (em, facts) => trail.addWithin(em, { ...head, ...merge(asked, facts) }),
    };
    request.contextValues.set(changeKey, change);
    const response = await next(request);
    if (change.settled || response.stream) {
      return response;
    }
    const event = { ...head, ...readOutcome(asked, change.before, response) };
    try {
      await trail.add(event);
    } catch (error) {
      lost();
      logger.error({ error, event }, "a change is not in the audit log: it was made, and could not be noted");
    }
    return response;
  };
  return (next) => (request) => {
    const principal = request.contextValues.get(principalKey);
    return principal === undefined || request.stream || !isChange(request.method, principal)
      ? next(request)
      : record(next, request, principal);
  };
}

/** Whether a call changes something: operators and members may make it, and readers may not. Public methods only read. */
function isChange(method: DescMethod, principal: Principal): boolean {
  if (isForPeople(readAccess(method))) {
    const changesNothing = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
    return !changesNothing && method.parent !== SessionsService; // to sign in or out is no change
  }
  const needed = readAccess(method);
  const isForOperators = needed === Access.OPERATOR || needed === Access.CALLER_OR_OPERATOR;
  if (!isForOperators || readRole(method) <= Role.READER) {
    return false; // an owner's own lists, such as of invoices, are read by operators who change nothing
  }
  return (
    principal.kind !== "caller" || (principal.memberRole !== undefined && readMemberRole(method) > MemberRole.VIEWER)
  );
}

function readHead(request: UnaryRequest, principal: Principal, trusts: TrustsPeer) {
  const who =
    principal.kind === "operator"
      ? {
          operator: principal.name,
          operatorId: principal.id || null,
          keyId: null,
          personId: principal.personId ?? null,
        }
      : readMember(principal);
  return {
    ...who,
    method: `${request.service.typeName}/${request.method.name}`,
    address: readClientAddress(request, trusts),
  };
}

function readMember({ keyId, personId, personName = "", accountId }: Caller) {
  const who =
    personId === undefined
      ? { operator: `key ${keyId}`, keyId, personId: null }
      : { operator: personName || `person ${personId}`, keyId: null, personId };
  return { ...who, operatorId: null, accountId: accountId || null };
}

type Outcome = Pick<NewAuditEvent, "target" | "before" | "after"> & Partial<Pick<NewAuditEvent, "accountId">>;

function merge(asked: JsonObject, { target, accountId, before, after }: ChangeFacts): Outcome {
  return { target, before, after: { ...asked, ...after }, ...(accountId !== undefined && { accountId }) };
}

function readOutcome(asked: JsonObject, before: JsonObject | undefined, response: UnaryResponse): Outcome {
  const answered = toPublicJson(response.method.output, response.message);
  return { target: readTarget(asked, answered), before, after: { ...asked, ...answered } };
}

/** The id of the object that was made or changed: from the answer, otherwise from the request. */
function readTarget(asked: JsonObject, answered: JsonObject): string {
  for (const value of Object.values(answered)) {
    if (typeof value === "object" && value !== null && "id" in value && typeof value.id === "string") {
      return value.id;
    }
  }
  const named = Object.entries(asked).find(
    ([name]) => name === "model" || (/_id$/.test(name) && name !== "request_id"),
  );
  return typeof named?.[1] === "string" ? named[1] : "";
}
