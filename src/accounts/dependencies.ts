import type { Clock } from "../../lib/time/clock.ts";
import type { Funds } from "../metering/books/payments/interface.ts";
import type { PicoUsd } from "../metering/interface.ts";
import type { Ledger } from "../metering/ledger/interface.ts";
import type { AccountList } from "./accounts.ts";
import type { KeyList } from "./keys/api-keys.ts";

/** Dependencies of the accounts service. */
export interface AccountsDependencies {
  readonly accounts: AccountList;
  readonly keys: KeyList;
  readonly funds: Funds;
  /** As Ledger.budgetState. */
  readonly budgetState: Ledger["budgetState"];
  readonly clock: Clock;
  /** The id for a new account: the same one for the same request id, which may be empty. */
  readonly newAccountId: (requestId: string) => string | Promise<string>;
  /**
   * Moves an account to the database with this number, closing it for at most `pauseMs` milliseconds. Returns the
   * number of the database that it was in. Throws ACCOUNT_NOT_FOUND, INVALID_ARGUMENT, BALANCE_HELD,
   * LEDGER_UNAVAILABLE.
   */
  readonly moveAccount: (accountId: string, shard: number, pauseMs: number) => Promise<number>;
  /** Tells this core and all others that can be reached that an account or its keys have changed. */
  readonly accountChanged: (accountId: string) => void;
  /** The most live keys of a new account unless its creation says otherwise. */
  readonly maxKeys: number;
  /** The free-tier grant of a new account. */
  readonly freeGrant: PicoUsd;
  /** Ids of the served models. */
  readonly models: () => readonly string[];
}
