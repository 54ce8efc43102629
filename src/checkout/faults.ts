import { Code, ConnectError } from "@connectrpc/connect";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import type { Provider } from "./provider.ts";
import { RefusedByProvider } from "./provider.ts";

/** The reason of an error that no retry changes. Undefined: the same call may succeed later. */
export function finalReason(error: unknown): Reason | undefined {
  const { code } = ConnectError.from(error);
  const reason = readDetail(error)?.reason;
  return code === Code.Unavailable || isOverDay(error) ? undefined : reason;
}

/** Whether only the limit on a day's payments is in the way, which passes. */
export function isOverDay(error: unknown): boolean {
  return readDetail(error)?.reason === Reason.PAYMENT_24H_LIMIT;
}

/** What an error says to people. */
export function textOf(error: unknown): string {
  return ConnectError.from(error).rawMessage;
}

/** Asks the provider for a caller, who is told what failed. Throws PAYMENT_PROVIDER_FAILED, INVALID_ARGUMENT. */
export async function askFor<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ConnectError) {
      throw error;
    }
    if (error instanceof RefusedByProvider) {
      throw failure(Reason.INVALID_ARGUMENT, `The payment provider refuses: ${error.message}`, {}, error);
    }
    throw failure(
      Reason.PAYMENT_PROVIDER_FAILED,
      "The payment provider does not answer. Try again in a moment.",
      {},
      error,
    );
  }
}

/** Whether the ledger has the movement of a reference, as a transaction sees it. */
export type IsBooked = (em: SqlEntityManager, reference: string) => Promise<boolean>;

/**
 * Call it in the transaction that notes that the ledger has a movement. Throws LEDGER_UNAVAILABLE, so that the movement is made
 * again, when a failover into the past has lost it since it was made.
 */
export async function demandBooked(
  { isBooked }: { readonly isBooked: IsBooked },
  em: SqlEntityManager,
  reference: string,
): Promise<void> {
  if (!(await isBooked(em, reference))) {
    throw failure(Reason.LEDGER_UNAVAILABLE, `The database has lost the movement ${reference}: it is made again.`);
  }
}

/** The provider. Throws UNSUPPORTED when none is configured. */
export function demandProvider(provider: Provider | undefined): Provider {
  if (provider === undefined) {
    throw failure(Reason.UNSUPPORTED, "No payment provider is configured (payments.stripe).");
  }
  return provider;
}
