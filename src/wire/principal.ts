import type { MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { BudgetPeriod } from "#lib/limits/budget-period.ts";
import type { heldLimits } from "#lib/limits/key-limits.ts";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";

/** A spending limit in each period for all keys of a rotation chain together, whatever the account has. */
export interface Budget {
  /** The id of the chain's first key. */
  readonly id: string;
  /** In pico-USD. */
  readonly limit: number;
  /** How often it begins anew, in UTC; a week begins on Monday. total: never. */
  readonly period: BudgetPeriod;
}

/** The limits of a key that need no other form to be enforced. Undefined: its account's, or no limit. */
export type OwnLimits = Omit<ReturnType<typeof heldLimits>, "budgetPicoUsd" | "budgetPeriod" | "expiresAt" | "models">;

/** The payer of a call, known once its credential has been checked. */
export interface Caller extends OwnLimits {
  readonly kind: "caller";
  readonly accountId: string;
  /** The key's id. Empty: a service token. */
  readonly keyId: string;
  /** The first key of its chain of rotations: keys of a chain share the counters of limits. Undefined: this key. */
  readonly limitsOf?: string;
  /** The spending limit of the key, shared with its rotation chain. Undefined: as much as the account has. */
  readonly budget?: Budget;
  /** The class of its account's requests, and the highest that they may have. Undefined: standard. */
  readonly accountServiceClass?: ServiceClass;
  /** The only models that it may use. Undefined: all. */
  readonly models?: ReadonlySet<string>;
  /** Why its account is frozen. Undefined: it is not frozen. */
  readonly frozenReason?: string;
  /** Requests that its account may run at once. Undefined: the account's tier decides. */
  readonly accountMaxInFlight?: number;
  /**
   * Its role in its account, for which it runs no inference: of a management key or a person. Unspecified: a person
   * without an account, whose accountId is empty. Undefined: no member.
   */
  readonly memberRole?: MemberRole;
  /** The person who signed in, with a role as a member. Undefined: a key or a service calls. */
  readonly personId?: string;
  /** What the person is called. */
  readonly personName?: string;
  /** The console session of the call; without a person it only reads. Undefined: it has a credential of its own. */
  readonly sessionId?: string;
}

/** A person who runs the service. */
export interface Operator {
  readonly kind: "operator";
  /** The stored operator's id. Empty: the operator of the configured token. */
  readonly id: string;
  /** The operator's name in the audit log. */
  readonly name: string;
  readonly role: Role;
  /** The person who signed in by a provider. Undefined: an operator with a token. */
  readonly personId?: string;
  /** The console session of the call. Undefined: the operator's own token. */
  readonly sessionId?: string;
}

/** A console session that has not ended. */
export interface LiveSession {
  readonly id: string;
  readonly expiresAt: Date;
  readonly owner:
    | Operator
    /** A customer's account, and the key that the customer signed in with. */
    | { readonly kind: "customer"; readonly accountId: string; readonly key: ApiKey | undefined }
    /** A person and its place in an account. Empty and unspecified: the person has no account. */
    | {
        readonly kind: "person";
        readonly accountId: string;
        readonly personId: string;
        readonly personName: string;
        readonly memberRole: MemberRole;
      };
}

/** Finds console sessions by their tokens. */
export interface SessionFinder {
  /** Whether a text can be a session's token at all. */
  isToken(text: string): boolean;
  /** Undefined: the session has ended, or its owner has no access any more. */
  find(token: string): Promise<LiveSession | undefined>;
}

/** The identity behind a call: a customer's key or an operator. */
export type Principal = Caller | Operator;

/** The cause of a refusal: a key that was right until it ended. What is recorded of the call is its account's to see. */
export class EndedKey extends Error {
  readonly kind = "caller";
  readonly accountId: string;
  readonly keyId: string;

  constructor({ accountId, keyId }: Pick<Caller, "accountId" | "keyId">) {
    super("the key has ended");
    this.accountId = accountId;
    this.keyId = keyId;
  }
}

/** Checks credentials. */
export interface Authenticator {
  /**
   * Identifies the presenter of a credential: an operator token, an API key, or a service token, which needs the id of
   * the account that pays. Returns at once when the credential is remembered. Rejects with UNAUTHENTICATED or
   * PERMISSION_DENIED; the cause is an EndedKey where the key was right once.
   */
  authenticate(credential: string, payingAccountId: string | undefined): Principal | Promise<Principal>;
}
