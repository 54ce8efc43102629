import type { Client } from "@connectrpc/connect";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { IsBooked } from "./faults.ts";
import type { Provider } from "./provider.ts";

/** All that buying credit knows of money: the accounts service, called as the operator. */
export type Accounts = Pick<
  Client<typeof AccountsService>,
  "topUp" | "refund" | "freezeAccount" | "getAccount" | "listAccounts"
>;

/** Dependencies of all that buys credit. */
export interface Dependencies {
  readonly storage: Storage;
  readonly accounts: Accounts;
  /** Brings in a payment that was ordered here, also where the limits of one payment have changed since. */
  readonly topUpOrdered: Accounts["topUp"];
  readonly isBooked: IsBooked;
  /** Undefined: events are believed, and nothing can be asked. */
  readonly provider: Provider | undefined;
  readonly announce: Announce;
  readonly clock: Clock;
  readonly random: Pick<Random, "uuid">;
  readonly logger: Logger;
}
