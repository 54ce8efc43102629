import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Accounts } from "#src/identity/accounts/accounts.ts";
import type { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import type { PicoUsd } from "#src/money/model/interface.ts";
import type { Ledger } from "#src/money/model/ledger.ts";
import type { Funds } from "#src/money/model/payments.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import type { Storage } from "#src/storage/storage.ts";

export interface Dependencies {
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly funds: Funds;
  readonly prices: PriceList;
  /** Has the own prices of accounts. */
  readonly storage: Storage;
  /** As Ledger.budgetState. */
  readonly budgetState: Ledger["budgetState"];
  /** The most requests a minute of a key of an account, unless the operator gives the key a rate of its own. */
  readonly tierRpm: (accountId: string) => Promise<number>;
  readonly clock: Clock;
  /** Makes the ids of new accounts. */
  readonly random: Pick<Random, "uuid">;
  /** Tells this core and all others that can be reached that an account or its keys have changed. */
  readonly accountChanged: (accountId: string) => void;
  /** The most live keys of a new account unless its creation says otherwise. */
  readonly maxKeys: number;
  /** The free-tier grant of a new account. */
  readonly freeGrant: PicoUsd;
  /** Empties an account that is closed of its people, their sessions, its invitations and its keys. */
  readonly removePeople: (accountId: string) => Promise<void>;
  /**
   * Gives what an account paid through the payment provider and did not spend back through it. In pico-USD: what has
   * gone, and what of its payments could still go back, in whole cents. Throws PAYMENT_PROVIDER_FAILED where a part of
   * it did not go back.
   */
  readonly giveBack: (
    accountId: string,
    requestId: string,
  ) => Promise<{ readonly gone: bigint; readonly left: bigint }>;
  /** Ids of the served models. */
  readonly models: () => readonly string[];
}
