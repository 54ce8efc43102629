import type { ConnectError } from "@connectrpc/connect";
import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import { toDuration } from "../../lib/time/duration.ts";
import { Account } from "./entities/account.ts";

/** A guess of when a moving account may be used again. */
const retryMs = 1000;

const refusals = new WeakSet<object>();

/** LEDGER_UNAVAILABLE with a retry delay: the account is moving to another database, or has left this one. */
export function moving(): ConnectError {
  const message = "The account is being moved to another database: try again in a moment.";
  const refusal = failure(Reason.LEDGER_UNAVAILABLE, message, { retryAfter: toDuration(retryMs) });
  refusals.add(refusal);
  return refusal;
}

/** LEDGER_UNAVAILABLE: the account is in a database that this core does not know. */
export function elsewhere(): ConnectError {
  return failure(
    Reason.LEDGER_UNAVAILABLE,
    "The account is in a database that this core does not know of: start it with all of the service's databases.",
    { retryAfter: toDuration(retryMs) },
  );
}

/** Whether an error says that an account moves: its database has to be looked up anew. */
export function isMoving(error: unknown): boolean {
  return typeof error === "object" && error !== null && refusals.has(error);
}

/** Throws when a locked account is not in this database. */
export function requireHere({ moveId }: Pick<Account, "moveId">): void {
  if (moveId) {
    throw moving();
  }
}

/** Locks an account before a change, if it exists. Throws when it is not in this database. */
export async function lockHere(em: SqlEntityManager, id: string): Promise<void> {
  const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  requireHere({ moveId: account?.moveId ?? null });
}
