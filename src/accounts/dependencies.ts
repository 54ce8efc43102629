import type { Random } from "../../lib/ids/random.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Funds } from "../metering/books/payments/interface.ts";
import type { PicoUsd } from "../metering/interface.ts";
import type { Ledger } from "../metering/ledger/interface.ts";
import type { Accounts } from "./accounts.ts";
import type { ApiKeys } from "./keys/api-keys.ts";

/** Dependencies of the service of accounts. */
export interface AccountsDependencies {
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly funds: Funds;
  /** As Ledger.budgetState. */
  readonly budgetState: Ledger["budgetState"];
  readonly clock: Clock;
  readonly random: Random;
  /** Tells this core and, as far as they can be reached, the others that an account or its keys have changed. */
  readonly accountChanged: (accountId: string) => void;
  /** Live keys that a new account may have unless its creation says otherwise. */
  readonly maxKeys: number;
  /** The grants of a new account. */
  readonly freeGrant: PicoUsd;
  /** Ids of the models that are served. */
  readonly models: () => readonly string[];
}
