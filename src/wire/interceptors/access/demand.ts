import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { Access, MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { isForPeople } from "#lib/rpc/for-people.ts";
import type { Operator, Principal } from "../../principal.ts";
import { readMemberRole, readRole } from "./required-access.ts";

/** Throws PERMISSION_DENIED when a principal may not call a method. */
export function demand(needed: Access, method: DescMethod, principal: Principal): void {
  if (needed === Access.SESSION) {
    requireSession(principal);
    return;
  }
  if (isForPeople(needed)) {
    requirePerson(needed, principal);
    return;
  }
  if (principal.kind === "caller" && principal.memberRole !== undefined) {
    requireMember(method, needed, principal.memberRole, principal.personId !== undefined);
    return;
  }
  if (!isAllowed(needed, principal)) {
    throw denied(needed);
  }
  if (principal.kind === "caller" && principal.sessionId !== undefined && !isRead(needed, method)) {
    throw readsAlone();
  }
  if (principal.kind === "operator" && principal.role < readRole(method)) {
    throw lacking(readRole(method), principal);
  }
}

/** Throws PERMISSION_DENIED for a credential that is no session. */
function requireSession(principal: Principal): void {
  if (principal.sessionId === undefined) {
    throw failure(Reason.PERMISSION_DENIED, "This call is for sessions of the console.");
  }
}

/** Throws PERMISSION_DENIED for a credential that is no person's, and for a person who needs an account and has none. */
function requirePerson(needed: Access, principal: Principal): void {
  if (principal.kind !== "caller" || principal.personId === undefined) {
    throw failure(Reason.PERMISSION_DENIED, "This call is for sessions of people who signed in.");
  }
  if (needed === Access.PERSON && principal.accountId === "") {
    throw failure(Reason.PERMISSION_DENIED, withoutAccount);
  }
}

const withoutAccount = "You have no account here: use an invitation first.";

/** Throws PERMISSION_DENIED for a method that a member of this role may not call: the contract's member role decides. */
function requireMember(method: DescMethod, needed: Access, held: MemberRole, isPerson: boolean): void {
  const least = readMemberRole(method);
  if (least !== MemberRole.UNSPECIFIED && held >= least) {
    return;
  }
  throw failure(Reason.PERMISSION_DENIED, explainMember(needed, least, held, isPerson));
}

function explainMember(needed: Access, least: MemberRole, held: MemberRole, isPerson: boolean): string {
  const who = isPerson ? "A member's session" : "A management key";
  if (held === MemberRole.UNSPECIFIED) {
    return withoutAccount;
  }
  if (least === MemberRole.UNSPECIFIED) {
    return needed === Access.CALLER
      ? `${who} runs no inference: send an API key of the account.`
      : `${who} may not call this method: it is for those who run the service.`;
  }
  const [wanted, own] = [MemberRole[least].toLowerCase(), MemberRole[held].toLowerCase()];
  return `This method needs the role ${wanted} in the account; ${isPerson ? "you have" : "the key has"} ${own}.`;
}

function isAllowed(needed: Access, { kind }: Principal): boolean {
  switch (needed) {
    case Access.CALLER:
      return kind === "caller";
    case Access.OPERATOR:
      return kind === "operator";
    case Access.CALLER_OR_OPERATOR:
    case Access.PUBLIC:
    case Access.PUBLIC_OR_CALLER:
      return true;
    case Access.MEMBER: // members are asked for their role before
    case Access.PERSON: // asked for before, as sessions are
    case Access.ANY_PERSON:
    case Access.SESSION:
    case Access.UNSPECIFIED: // a method without a declaration
      return false;
  }
}

/** Whether a customer's session may call a method: one that spends nothing and changes nothing. */
function isRead(needed: Access, method: DescMethod): boolean {
  return needed === Access.CALLER_OR_OPERATOR && readRole(method) === Role.READER;
}

function readsAlone(): ConnectError {
  return failure(Reason.PERMISSION_DENIED, "A customer's session reads alone: send the API key itself.");
}

function denied(needed: Access): ConnectError {
  return failure(
    Reason.PERMISSION_DENIED,
    needed === Access.OPERATOR
      ? "Only the operator of this service can do this."
      : needed === Access.MEMBER
        ? "This method needs a member of the account."
        : "This method needs an API key, or a service token that names an account.",
  );
}

function lacking(needed: Role, { name, role: held }: Operator): ConnectError {
  return failure(
    Reason.PERMISSION_DENIED,
    `This method needs the role ${Role[needed].toLowerCase()}; the operator ${name} has ${Role[held].toLowerCase()}.`,
  );
}
