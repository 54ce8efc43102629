import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { heldLimits } from "#lib/limits/key-limits.ts";
import type { Account } from "#src/storage/entities/account.ts";
import { isFrozen } from "#src/storage/entities/account.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Caller, LiveSession, Principal } from "#src/wire/principal.ts";
import { toBudget } from "./keys/key-budget.ts";

/** What is remembered of a key. */
export interface KnownKey {
  readonly caller: Caller;
  readonly revoked: boolean;
  readonly disabled: boolean;
  /** Infinity: it never expires. */
  readonly expiresAt: number;
}

/** What is remembered of a session. */
export interface KnownSession {
  readonly principal: Principal;
  readonly expiresAt: number;
}

/** The remembered facts of an account. */
export interface AccountState {
  readonly accountId: string;
  /** The limits of the account's callers. Undefined: none. */
  readonly limits: Pick<Caller, "frozenReason" | "accountMaxInFlight" | "accountServiceClass"> | undefined;
}

/** What a stored key says of its callers. */
export function toKnownKey(key: ApiKey): KnownKey {
  const budget = toBudget(key);
  const { budgetPicoUsd, budgetPeriod, expiresAt, models, ...own } = heldLimits(key.limits);
  return {
    caller: {
      kind: "caller",
      accountId: key.accountId,
      keyId: key.id,
      ...(key.limitsOf && { limitsOf: key.limitsOf }),
      ...own,
      ...(budget && { budget }),
      ...(models && { models: new Set(models) }),
      ...(key.manages && { memberRole: MemberRole.DEVELOPER }),
    },
    revoked: Boolean(key.revokedAt),
    disabled: key.disabled,
    expiresAt: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
  };
}

/** Whose a session is. Undefined: its key was revoked or disabled. */
export function toKnownSession({ id, expiresAt, owner }: LiveSession): KnownSession | undefined {
  const sessionId = id;
  if (owner.kind === "operator") {
    return { principal: { ...owner, sessionId }, expiresAt: expiresAt.getTime() };
  }
  if (owner.kind === "person") {
    return { principal: { ...owner, kind: "caller", keyId: "", sessionId }, expiresAt: expiresAt.getTime() };
  }
  const { accountId, key } = owner;
  if (key === undefined) {
    return { principal: { kind: "caller", accountId, keyId: "", sessionId }, expiresAt: expiresAt.getTime() };
  }
  const known = toKnownKey(key);
  if (known.revoked || known.disabled) {
    return undefined;
  }
  const ends = Math.min(expiresAt.getTime(), known.expiresAt);
  return { principal: { ...known.caller, sessionId }, expiresAt: ends };
}

/** What an account says of its callers. Undefined: there is no such account. */
export function readState(account: Account | undefined): AccountState | undefined {
  if (account === undefined) {
    return undefined;
  }
  const limits = {
    ...(isFrozen(account) && { frozenReason: account.frozenReason ?? "" }),
    ...(account.maxInFlight && { accountMaxInFlight: account.maxInFlight }),
    ...(account.serviceClass && { accountServiceClass: account.serviceClass }),
  };
  return { accountId: account.id, limits: Object.keys(limits).length === 0 ? undefined : limits };
}
