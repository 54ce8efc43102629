import { type Client, createClient } from "@connectrpc/connect";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { defaultConfig } from "#src/config/load.ts";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { Members } from "#src/identity/people/members.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { findRatePolicy } from "#src/money/rate-limits/max-rpm.ts";
import { MemoryWindows } from "#src/money/rate-limits/memory.ts";
import { createRateLimits } from "#src/money/rate-limits/rate-limits.ts";
import { createAccountsService } from "#src/services/accounts/accounts-service.ts";
import type { Dependencies } from "#src/services/accounts/dependencies.ts";
import { limitRates } from "#src/services/limits/rate-limit.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { validateRequests } from "#src/wire/interceptors/validation/validate.ts";
import type { Principal } from "#src/wire/principal.ts";
import { models } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { createFakeFunds } from "./fake-funds.ts";

export const usd = 10n ** 12n;
export const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };

/** The service, as a test calls it. */
export interface ServedAccounts {
  readonly client: Client<typeof AccountsService>;
  readonly clock: ManualClock;
  /** The accounts that were told to have changed, one entry a change. */
  readonly changed: readonly string[];
  readonly funds: ReturnType<typeof createFakeFunds>;
  /** Lets somebody else make the calls that follow. */
  callAs(principal: Principal): void;
  /** Makes an account and returns its id. */
  newAccount(): Promise<string>;
  close(): Promise<void>;
}

export async function serveAccounts(given: Partial<Pick<Dependencies, "giveBack">> = {}): Promise<ServedAccounts> {
  const clock = new ManualClock();
  const changed: string[] = [];
  let principal = operator;
  const storage = await openStorage("sqlite::memory:");
  const funds = createFakeFunds(storage, clock);
  const rateLimits = createRateLimits({
    policy: findRatePolicy(defaultConfig()),
    windows: new MemoryWindows(clock),
    fundingState: (accountId) => funds.statement(accountId),
    clock,
  });
  const pepper = { version: 1, secret: "p" };
  const keys = new ApiKeys({ storage, clock, random: systemRandom, prefix: "tg-", pepper });
  const members = new Members(storage, keys);
  const implementation = createAccountsService({
    accounts: new Accounts(storage),
    keys,
    funds,
    prices: await createPrices({
      storage,
      clock,
      models: models({ id: "open/chat" }, { id: "open/embed", kind: "embedding" }),
    }),
    storage,
    clock,
    random: systemRandom,
    accountChanged: (accountId) => void changed.push(accountId),
    budgetState: async ({ limit }) => ({ spent: 1n, left: limit - 1, resetsAt: 86_400_000 }),
    tierRpm: async (accountId) => (await rateLimits.read({ kind: "caller", accountId, keyId: "" })).limit,
    removePeople: (accountId) => members.removeAll(accountId),
    maxKeys: 20,
    freeGrant: Number(usd),
    giveBack: async () => ({ gone: 0n, left: 0n }),
    models: () => ["open/chat", "open/embed"],
    ...given,
  });
  const transport = createDirectTransport(
    [registration(AccountsService, implementation)],
    [
      (next) => (request) => {
        request.contextValues.set(principalKey, principal);
        return next(request);
      },
      limitRates(rateLimits),
      validateRequests([AccountsService]),
    ],
  );
  const client = createClient(AccountsService, transport);
  return {
    client,
    clock,
    changed,
    funds,
    callAs: (next) => {
      principal = next;
    },
    newAccount: async () => (await client.createAccount({ name: "A" })).account?.id ?? "",
    close: () => storage.close(),
  };
}

/** The detail of a refusal. Undefined: nothing was refused. */
export async function detail(answer: Promise<unknown>) {
  return answer.then(
    () => undefined,
    (error: unknown) => readDetail(error),
  );
}
