import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { Access } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BoundName, ListenerName } from "#lib/door/bounds.ts";
import { failure } from "#lib/errors/failure.ts";
import { toNetwork } from "#lib/net/network.ts";
import { clientAddressHeader } from "#lib/rpc/call-headers.ts";
import { andThen, atOnce } from "#lib/time/and-then.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { toDuration } from "#lib/time/duration.ts";
import { type CallHead, type Gate, listenerKey, refusalKey } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";
import { type Authenticator, EndedKey, type Principal } from "../../principal.ts";
import { type CallRates, createCallRates } from "./call-rates.ts";
import { readClientAddress, type TrustsPeer } from "./client-address.ts";
import { readCredential } from "./credential.ts";
import { demand } from "./demand.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import { admittedAtKey, isRefusal, principalKey, refusedKey } from "./principal.ts";
import { readAccess } from "./required-access.ts";

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
  clock: Pick<Clock, "monotonic"> = systemClock,
): Gate {
  /** Finds who presents a credential. Counts a wrong one, and compares no chosen token where too many were wrong. */
  const identify = (head: CallHead, ended: (key: EndedKey) => void): Principal | Promise<Principal> => {
    const credential = readCredential(head.header);
    const address = readClientAddress(head, trusts);
    const wait = isGuessable(credential) ? attempts.wait(address) : undefined;
    if (wait !== undefined) {
      refused(head.contextValues.get(listenerKey), "credentials");
      throw throttled(wait);
    }
    const failed = (error: unknown): never => {
      if (error instanceof ConnectError && error.cause instanceof EndedKey) {
        ended(error.cause);
      }
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
  const check = (head: CallHead) => identify(head, (key) => head.contextValues.set(refusedKey, key));
  /** Admits a known principal if it may call the method, and returns the payer. */
  const enter = (head: CallHead, needed: Access, principal: Principal): string => {
    try {
      demand(needed, head.method, principal);
      return admitted(head, principal);
    } catch (error) {
      head.contextValues.set(refusedKey, principal);
      throw error;
    }
  };
  const admitted = (head: CallHead, principal: Principal): string => {
    countCall(head, principal);
    head.contextValues.set(principalKey, principal).set(admittedAtKey, clock.monotonic());
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
  /** A caller for whom authentication is optional. Undefined: it has no key, a wrong one, or one that is not compared. */
  const welcome = async (head: CallHead): Promise<Principal | undefined> => {
    if (!head.header.has("authorization")) {
      return undefined;
    }
    try {
      return await identify(head, () => {});
    } catch {
      return undefined;
    }
  };
  return {
    forwards: trusts,
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

/** Milliseconds after which a call is judged again whose message came late: its credential may have ended meanwhile. */
const judgedAgainMs = 1000;

/**
 * Applies a gate to calls that have not passed it: servers ask the gate before they read a call's message. One whose message took
 * long is judged once more.
 */
export function authenticate(gate: Gate, clock: Pick<Clock, "monotonic"> = systemClock): Interceptor {
  return (next) => (request) => {
    const { contextValues } = request;
    const refusal = contextValues.get(refusalKey);
    if (refusal !== undefined) {
      return Promise.reject(refusal);
    }
    const admittedAt = contextValues.get(admittedAtKey);
    if (admittedAt !== undefined && clock.monotonic() - admittedAt > judgedAgainMs) {
      return judgeAgain(gate, request).then(() => next(request));
    }
    const admitted = contextValues.get(principalKey) === undefined ? gate.admit(request) : undefined;
    return admitted instanceof Promise ? admitted.then(() => next(request)) : next(request);
  };
}

/** Throws what the gate says now, unless the store cannot be asked. */
async function judgeAgain(gate: Gate, head: CallHead): Promise<void> {
  try {
    await gate.judge(head);
  } catch (error) {
    if (isRefusal(error)) {
      throw error;
    }
  }
}

/** Whether a credential has no checksum and no shape of ours: configured tokens, which people choose. */
function isGuessable(credential: string): boolean {
  return !/^[a-z0-9]{1,12}[-_][0-9A-Za-z]{49}$/.test(credential);
}

function throttled(waitMs: number): ConnectError {
  return failure(Reason.AUTHENTICATION_THROTTLED, "Too many failed authentications from this address.", {
    retryAfter: toDuration(waitMs),
  });
}
