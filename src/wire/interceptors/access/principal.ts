import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Caller, EndedKey, Operator, Principal } from "../../principal.ts";

/** The authenticated caller. Undefined on public methods, which ask for no credential. */
export const principalKey = createContextKey<Principal | undefined>(undefined, { description: "principal" });

/** When the gate admitted the call, by the monotonic clock. Undefined: it has not, or without a credential. */
export const admittedAtKey = createContextKey<number | undefined>(undefined, { description: "admitted at" });

/** Whom the gate has refused a call and yet knows, or knew until the key ended. Undefined: nobody. */
export const refusedKey = createContextKey<Principal | EndedKey | undefined>(undefined, { description: "refused" });

/** The operator to whom a call may have been refused, by the gate or by what it called. Undefined: no operator called. */
export function readRefused(values: HandlerContext["values"]): Operator | undefined {
  const principal = values.get(refusedKey) ?? values.get(principalKey);
  return principal?.kind === "operator" ? principal : undefined;
}

/** The authenticated caller. Throws PERMISSION_DENIED on public methods, which ask for no credential. */
export function readPrincipal(context: Pick<HandlerContext, "values">): Principal {
  const principal = context.values.get(principalKey);
  if (!principal) {
    throw failure(Reason.PERMISSION_DENIED, "This call has no authenticated caller.");
  }
  return principal;
}

/** The caller whose account pays. Throws PERMISSION_DENIED for any other principal. */
export function readCaller(context: Pick<HandlerContext, "values">): Caller {
  const principal = readPrincipal(context);
  if (principal.kind !== "caller") {
    throw failure(Reason.PERMISSION_DENIED, "This call needs an API key, or a service token that names an account.");
  }
  return principal;
}

/** The operator who made the call. Throws PERMISSION_DENIED for any other principal. */
export function readOperator(context: Pick<HandlerContext, "values">): Operator {
  const principal = readPrincipal(context);
  if (principal.kind !== "operator") {
    throw failure(Reason.PERMISSION_DENIED, "This call needs an operator token.");
  }
  return principal;
}

/**
 * The operator who made the call by a token of their own. Throws PERMISSION_DENIED for a session: what is made here would
 * outlive it, and whoever took it over.
 */
export function readTokenHolder(context: Pick<HandlerContext, "values">): Operator {
  const operator = readOperator(context);
  if (operator.sessionId !== undefined) {
    throw failure(Reason.PERMISSION_DENIED, "A session may not do this: send the operator's token itself.");
  }
  return operator;
}

/**
 * The account to which an answer is restricted: a caller's own, or the one that an operator names. Empty: an operator
 * sees all accounts. Throws PERMISSION_DENIED when a caller names another account than its own.
 */
export function visibleAccount(context: Pick<HandlerContext, "values">, accountId: string): string {
  const principal = readPrincipal(context);
  if (principal.kind === "operator") {
    return accountId;
  }
  if (principal.accountId === "" || (accountId !== "" && accountId !== principal.accountId)) {
    throw failure(Reason.PERMISSION_DENIED, "A key or a session sees its own account alone.");
  }
  return principal.accountId;
}

/** Whether the caller is told the name of its account: operators, whose label it may be, and its people are. */
export function seesAccountName(context: Pick<HandlerContext, "values">): boolean {
  const principal = readPrincipal(context);
  return principal.kind === "operator" || principal.personId !== undefined;
}

/** Whether an error says that a credential does not admit a call, and not that nobody could tell. */
export function isRefusal(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.Unauthenticated || code === Code.PermissionDenied;
}
