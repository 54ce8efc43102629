import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { ServerReflection as ReflectionV1 } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Access, access, MemberRole, member_role, Role, role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { andThen, atOnce } from "#lib/and-then.ts";
import type { BoundName, ListenerName } from "#lib/door/bounds.ts";
import { failure } from "#lib/errors/failure.ts";
import { toNetwork } from "#lib/net/network.ts";
import { clientAddressHeader } from "#lib/rpc/call-headers.ts";
import { toDuration } from "#lib/time/duration.ts";
import { type CallHead, type Gate, listenerKey, refusalKey } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";
import type { Authenticator, Operator, Principal } from "../../principal.ts";
import { type CallRates, createCallRates } from "./call-rates.ts";
import { readClientAddress, type TrustsPeer } from "./client-address.ts";
import { readCredential } from "./credential.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import { principalKey, refusedKey } from "./principal.ts";

/** The header of a service token's call that names the paying account. */
export const accountHeader = "x-tollgate-account";

/**
 * Asks once for each call for the credential that the method's `tollgate.access.v1.access` option demands, and stores
 * the principal in `principalKey`. A method without the option is closed to everybody. Wrong credentials are counted by
 * address; a right one is never refused because of others' failures.
 */
export function createGate(
  authenticator: Authenticator,
  attempts: FailedAttempts,
  trusts: TrustsPeer,
  rates: CallRates = createCallRates(),
  refused: (listener: ListenerName, bound: BoundName) => void = () => {},
): Gate {
  const check = (head: CallHead): Principal | Promise<Principal> => {
    const credential = readCredential(head.header);
    const address = readClientAddress(head, trusts);
    const wait = isGuessable(credential) ? attempts.wait(address) : undefined;
    if (wait !== undefined) {
      refused(head.contextValues.get(listenerKey), "credentials");
      throw throttled(wait);
    }
    const failed = (error: unknown): never => {
      if (error instanceof ConnectError && error.code === Code.Unauthenticated) {
        const wait = attempts.count(address);
        if (wait !== undefined) {
          refused(head.contextValues.get(listenerKey), "credentials");
          throw throttled(wait);
        }
      }
      throw error;
    };
    const principal = authenticator.authenticate(credential, head.header.get(accountHeader) ?? undefined);
    return principal instanceof Promise ? principal.catch(failed) : principal;
  };
  /** Admits a known principal if it may call the method, and returns the payer. */
  const enter = (head: CallHead, needed: Access, principal: Principal): string => {
    try {
      demand(needed, head.method, principal);
    } catch (error) {
      if (principal.kind === "operator") {
        head.contextValues.set(refusedKey, principal);
      }
      throw error;
    }
    return admitted(head, principal);
  };
  const admitted = (head: CallHead, principal: Principal): string => {
    countCall(head, principal);
    head.contextValues.set(principalKey, principal);
    return toPayer(principal);
  };
  const countCall = (head: CallHead, principal: Principal | undefined) => {
    const wait = rates.count(head.method, principal, readAddress(head));
    if (wait !== undefined) {
      refused(head.contextValues.get(listenerKey), "rate");
      throw failure(Reason.RATE_LIMITED, "Too many calls in a minute.", { retryAfter: toDuration(wait) });
    }
  };
  /** The address of a call's client. Undefined: the call came from this process for nobody else. */
  const readAddress = (head: CallHead) => {
    const isOurs = head.contextValues.get(peerKey) === undefined && !head.header.has(clientAddressHeader);
    return isOurs ? undefined : readClientAddress(head, trusts);
  };
  /** Admits a call without a credential, for which the network of its address pays. */
  const stranger = (head: CallHead): string => {
    countCall(head, undefined);
    return toNetwork(readAddress(head) ?? "in process");
  };
  /** A caller for whom authentication is optional. Undefined: the caller has no key, or a wrong one. */
  const welcome = async (head: CallHead): Promise<Principal | undefined> => {
    if (!head.header.has("authorization")) {
      return undefined;
    }
    try {
      const principal = await authenticator.authenticate(
        readCredential(head.header),
        head.header.get(accountHeader) ?? undefined,
      );
      return principal;
    } catch {
      return undefined;
    }
  };
  return {
    admit(head) {
      const needed = readAccess(head.method);
      if (needed === Access.PUBLIC) {
        return atOnce(() => stranger(head));
      }
      if (needed === Access.PUBLIC_OR_CALLER) {
        return welcome(head).then((caller) => (caller === undefined ? stranger(head) : admitted(head, caller)));
      }
      return atOnce(() => andThen(check(head), (principal) => enter(head, needed, principal)));
    },
    async judge(head) {
      const account = head.header.get(accountHeader) ?? undefined;
      const principal = await authenticator.authenticate(readCredential(head.header), account);
      demand(readAccess(head.method), head.method, principal);
    },
    clientOf: (head) => readClientAddress(head, trusts),
  };
}

/** Whose calls are counted together. */
function toPayer(principal: Principal): string {
  if (principal.kind === "operator") {
    return `operator ${principal.id}`;
  }
  return principal.accountId || `person ${principal.personId}`;
}

/** Throws PERMISSION_DENIED for a credential that is no session, or no person's. */
function requireSession(needed: Access, principal: Principal): void {
  const isPerson = principal.kind === "caller" && principal.personId !== undefined;
  if (needed === Access.PERSON ? !isPerson : principal.sessionId === undefined) {
    throw failure(
      Reason.PERMISSION_DENIED,
      `This call is for sessions of ${needed === Access.PERSON ? "people who signed in" : "the console"}.`,
    );
  }
}

/** Throws PERMISSION_DENIED when a principal may not call a method. */
function demand(needed: Access, method: DescMethod, principal: Principal): void {
  if (needed === Access.SESSION || needed === Access.PERSON) {
    requireSession(needed, principal);
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

/** Applies a gate to calls that have not passed it: servers ask the gate before they read a call's message. */
export function authenticate(gate: Gate): Interceptor {
  return (next) => (request) => {
    const { contextValues } = request;
    const refusal = contextValues.get(refusalKey);
    if (refusal !== undefined) {
      return Promise.reject(refusal);
    }
    const admitted = contextValues.get(principalKey) === undefined ? gate.admit(request) : undefined;
    return admitted instanceof Promise ? admitted.then(() => next(request)) : next(request);
  };
}

/** Whether a credential has no checksum and no shape of ours: configured tokens, which people choose. */
function isGuessable(credential: string): boolean {
  return !/^[a-z0-9]{1,12}[-_][0-9A-Za-z]{49}$/.test(credential);
}

/** Services that a prober or a tool calls before it has a credential. */
const standardAccess: ReadonlyMap<string, Access> = new Map(
  [Health, ReflectionV1, ReflectionV1Alpha].map(({ typeName }) => [typeName, Access.PUBLIC]),
);

const accesses = new WeakMap<DescMethod, Access>();

/**
 * The access of a method: from its own declaration, or from the table of standard services, whose files are not ours.
 */
export function readAccess(method: DescMethod): Access {
  let found = accesses.get(method);
  if (found === undefined) {
    const standard = standardAccess.get(method.parent.typeName) ?? Access.UNSPECIFIED;
    found = hasOption(method, access) ? getOption(method, access) : standard;
    accesses.set(method, found);
  }
  return found;
}

const leastRoles = new WeakMap<DescMethod, Role>();

/** The lowest operator role that may call a method. */
export function readRole(method: DescMethod): Role {
  let found = leastRoles.get(method);
  if (found === undefined) {
    found = getOption(method, role) || Role.OWNER;
    leastRoles.set(method, found);
  }
  return found;
}

const leastMemberRoles = new WeakMap<DescMethod, MemberRole>();

/** The lowest role of an account's member that may call a method. Unspecified: no member may. */
export function readMemberRole(method: DescMethod): MemberRole {
  let found = leastMemberRoles.get(method);
  if (found === undefined) {
    found = getOption(method, member_role);
    leastMemberRoles.set(method, found);
  }
  return found;
}

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
    return "You have no account here: use an invitation first.";
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

function throttled(waitMs: number): ConnectError {
  return failure(Reason.AUTHENTICATION_THROTTLED, "Too many failed authentications from this address.", {
    retryAfter: toDuration(waitMs),
  });
}
