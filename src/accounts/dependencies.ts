import type { Clock } from "../../lib/time/clock.ts";
import type { Funds } from "../metering/books/payments/interface.ts";
import type { PicoUsd } from "../metering/interface.ts";
import type { Ledger } from "../metering/ledger/interface.ts";
import type { AccountList } from "./accounts.ts";
import type { KeyList } from "./keys/api-keys.ts";

/** Dependencies of the service of accounts. */
export interface AccountsDependencies {
  readonly accounts: AccountList;
  readonly keys: KeyList;
  readonly funds: Funds;
  /** As Ledger.budgetState. */
  readonly budgetState: Ledger["budgetState"];
  readonly clock: Clock;
  /** The id of an account that a request makes; the same one for the same request, whose id may be empty. */
  readonly newAccountId: (requestId: string) => string | Promise<string>;
  /**
   * Moves an account to the database of a number, closing it for so many milliseconds at most. Returns where it was. Throws
   * ACCOUNT_NOT_FOUND, INVALID_ARGUMENT, BALANCE_HELD, LEDGER_UNAVAILABLE.
   */
  readonly moveAccount: (accountId: string, shard: number, pauseMs: number) => Promise<number>;
  /** Tells this core and, as far as they can be reached, the others that an account or its keys have changed. */
  readonly accountChanged: (accountId: string) => void;
  /** Live keys that a new account may have unless its creation says otherwise. */
  readonly maxKeys: number;
  /** The grants of a new account. */
  readonly freeGrant: PicoUsd;
  /** Ids of the models that are served. */
  readonly models: () => readonly string[];
}
