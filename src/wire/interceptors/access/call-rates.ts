import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { CallRate, call_rate, MemberRole, member_role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { RateLimitUse, rate_limit_use } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { Windows } from "#lib/door/counts/windows.ts";
import { toNetwork, toWiderNetwork } from "#lib/net/network.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import type { Caller, Principal } from "../../principal.ts";

/** Calls a minute that no other limit counts. */
export interface CallRateLimits {
  /** Of sign-ins and links, for a payer and, but for operators, for an address each. */
  readonly signIns: number;
  /** Of reads, for a payer. A key whose own rate is higher has ten reads for each of its requests. */
  readonly reads: number;
  /** Of changes by members and management keys, for an account: each leaves a row for ever. */
  readonly changes: number;
}

const defaultLimits: CallRateLimits = { signIns: 30, reads: 600, changes: 120 };
const windowMs = 60_000;
/** The payers and networks that are counted at a time. */
const mostOwners = 20_000;
/** How many times the calls of an address the network around it may make. */
const widerTimes = 4;
const readsOfRequest = 10;

/** Counts the calls that no rate of requests counts, so that none is free. */
export interface CallRates {
  /**
   * Returns the milliseconds to wait where there were too many. `principal` undefined: a call without a credential, for
   * which the address pays. `address` undefined: this process itself calls.
   */
  count(method: DescMethod, principal: Principal | undefined, address: string | undefined): number | undefined;
}

export function createCallRates(
  limits: Partial<CallRateLimits> = {},
  clock: Pick<Clock, "monotonic"> = systemClock,
): CallRates {
  const { signIns, reads, changes } = { ...defaultLimits, ...limits };
  const windows = new Windows(windowMs, mostOwners);
  const take = (owner: string, limit: number) => windows.count(owner, limit, clock.monotonic());
  const ofAddress = (what: string, address: string, limit: number) =>
    take(`${what} from ${toNetwork(address)}`, limit) ??
    take(`${what} around ${toWiderNetwork(address)}`, limit * widerTimes);
  const countRead = (principal: Principal | undefined, address: string | undefined) => {
    switch (principal?.kind) {
      case "caller":
        return take(`reads of ${toOwner(principal)}`, Math.max(reads, (principal.rpm ?? 0) * readsOfRequest));
      case "operator":
        return undefined; // few people, who read much at once
      case undefined:
        return address === undefined ? undefined : ofAddress("reads", address, reads);
    }
  };
  const countSignIn = (principal: Principal | undefined, address: string | undefined) => {
    if (principal?.kind === "operator") {
      return take(`sign-ins of ${principal.id}`, signIns); // its customers' office does not lock it out
    }
    const payer = principal === undefined ? undefined : toOwner(principal);
    return (
      (payer === undefined ? undefined : take(`sign-ins of ${payer}`, signIns)) ??
      (address === undefined ? undefined : ofAddress("sign-ins", address, signIns))
    );
  };
  const countChange = (principal: Principal | undefined, address: string | undefined) => {
    switch (principal?.kind) {
      case "caller":
        return take(`changes of ${toOwner(principal)}`, changes);
      case "operator":
        return undefined; // in the audit log, by name
      case undefined:
        return countSignIn(undefined, address);
    }
  };
  return {
    count(method, principal, address) {
      switch (readKind(method)) {
        case "sign-in":
          return countSignIn(principal, address);
        case "read":
          return countRead(principal, address);
        case "change":
          return countChange(principal, address);
        case undefined:
          return undefined;
      }
    },
  };
}

/** Whose calls are counted together: an account's, or a person's who has none. */
export function toOwner({ accountId, personId }: Caller): string {
  return accountId || `person ${personId}`;
}

type CallKind = "sign-in" | "read" | "change";

const kinds = new WeakMap<DescMethod, { readonly kind: CallKind | undefined }>();

/** Whether a call counts as a read. */
export function isRead(method: DescMethod): boolean {
  return readKind(method) === "read";
}

/** What a call counts as. Undefined: another limit counts it, or a prober makes it. */
function readKind(method: DescMethod): CallKind | undefined {
  let found = kinds.get(method);
  if (found === undefined) {
    found = { kind: kindOf(method) };
    kinds.set(method, found);
  }
  return found.kind;
}

function kindOf(method: DescMethod): CallKind | undefined {
  switch (getOption(method, call_rate)) {
    case CallRate.SIGN_IN:
      return "sign-in";
    case CallRate.CHANGE:
      return "change";
    case CallRate.UNSPECIFIED:
      return usualKindOf(method);
  }
}

function usualKindOf(method: DescMethod): CallKind | undefined {
  const use = getOption(method, rate_limit_use);
  // A facade asks who calls before it reads the body of a request that is counted itself.
  if (use === RateLimitUse.RUN || use === RateLimitUse.COUNT || method === AccountsService.method.identifyCaller) {
    return undefined;
  }
  if (method.parent.typeName === Health.typeName) {
    return undefined;
  }
  return getOption(method, member_role) > MemberRole.VIEWER ? "change" : "read";
}
