import { LockMode, type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Account } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";

/** What moves an account's money, in a transaction that holds the account's lock. */
type Run<T> = (em: SqlEntityManager, account: Account) => Promise<T>;

/** Runs one transaction that holds the account's lock. Throws ACCOUNT_NOT_FOUND. */
export async function withAccount<T>(storage: Storage, accountId: string, run: Run<T>): Promise<T> {
  try {
    return await tryWithAccount(storage, accountId, run);
  } catch (error) {
    // Another account used the same reference meanwhile; the second try sees it.
    if (error instanceof UniqueConstraintViolationException) {
      return tryWithAccount(storage, accountId, run);
    }
    throw error;
  }
}

function tryWithAccount<T>(storage: Storage, accountId: string, run: Run<T>): Promise<T> {
  return inTransaction(storage, async (em) => {
    const account = await em.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (account === null) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
    }
    return run(em, account);
  });
}
