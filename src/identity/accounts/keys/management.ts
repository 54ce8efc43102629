import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import { type LimitValues, limitPath } from "#lib/limits/key-limits.ts";
import { highestClass } from "#lib/limits/service-class.ts";
import type { Account } from "#src/storage/entities/account.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Principal } from "#src/wire/principal.ts";

// What members may do to the keys of their account. Management keys are made and changed by people: no key begets or
// changes one, not even itself.

/** Throws INVALID_ARGUMENT for a limit of requests on a key that makes none: it would seem to bound something. */
export function requireUnlimited({ expiresAt: _, ...limits }: LimitValues): void {
  if (Object.values(limits).some((limit) => limit != null)) {
    throw invalid("manages", "A management key runs nothing that this could limit: it may expire, and no more.");
  }
}

/** Throws PERMISSION_DENIED when a management key is to be made or changed by another key. */
export function requirePerson(principal: Principal, manages: boolean): void {
  if (manages && principal.kind === "caller" && principal.personId === undefined) {
    throw failure(
      Reason.PERMISSION_DENIED,
      "Management keys are made, changed, rotated and revoked by operators and members, never by a key.",
    );
  }
}

/** Throws KEY_NOT_FOUND when a caller asks for another account's key, as if there were none. */
export function requireVisible(principal: Principal, { accountId }: ApiKey): void {
  if (principal.kind === "caller" && principal.accountId !== accountId) {
    throw failure(Reason.KEY_NOT_FOUND, "There is no such key.");
  }
}

/** As `requireVisible`. Also throws PERMISSION_DENIED for a management key when another key asks. */
export function requireChangeable(principal: Principal, key: ApiKey): void {
  requireVisible(principal, key);
  requirePerson(principal, key.manages);
}

/**
 * Throws INVALID_ARGUMENT for a limit above what the member's account may have: members share out what the operator
 * gave, and raise nothing. `tierRpm`: the requests a minute of a key without a rate of its own.
 */
export async function requireWithinAccount(
  limits: LimitValues,
  account: Pick<Account, "maxInFlight" | "serviceClass">,
  tierRpm: () => Promise<number>,
): Promise<void> {
  const { rpm, maxInFlight, serviceClass } = limits;
  if (serviceClass && highestClass(serviceClass, account.serviceClass ?? undefined) !== serviceClass) {
    throw invalid(limitPath("serviceClass"), "The account may not have this class.");
  }
  if (maxInFlight && account.maxInFlight && maxInFlight > account.maxInFlight) {
    throw invalid(limitPath("maxInFlight"), `The account may run at most ${account.maxInFlight} requests at once.`);
  }
  if (!rpm) {
    return;
  }
  const most = await tierRpm();
  if (rpm > most) {
    throw invalid(limitPath("rpm"), `A key of the account may make at most ${most} requests a minute.`);
  }
}
