import type { Pepper } from "#lib/ids/pepper.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Money } from "#src/compose/core/money/money.ts";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { createAuthenticator, type KeyAuthenticator } from "#src/identity/accounts/authenticator.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { LastUsed } from "#src/identity/accounts/keys/last-used.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { Caller } from "#src/wire/principal.ts";
import type { History } from "../world/history.ts";

export const keyPrefix = "tg-";
export const pepper: Pepper = { version: 1, secret: "simulated" };
/** The token of the service that asks on behalf of accounts. */
export const serviceToken = "a service of the world";

/** How a core recognizes callers, and what its operators change about them. */
export class Door {
  readonly #authenticator: KeyAuthenticator;
  readonly #keys: ApiKeys;
  readonly #accounts: Accounts;
  readonly #ledger: Pick<Money["ledger"], "callIn">;
  readonly #clock: Clock;

  constructor(parts: {
    readonly storage: Storage;
    readonly ledger: Pick<Money["ledger"], "callIn">;
    readonly clock: Clock;
    readonly random: Random;
    readonly logger: ReturnType<History["logger"]>;
  }) {
    const { storage, ledger, clock, random, logger } = parts;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#accounts = new Accounts(storage);
    this.#keys = new ApiKeys({ storage, clock, random, pepper, prefix: keyPrefix });
    this.#authenticator = createAuthenticator({
      operatorToken: "an operator of the world",
      services: [{ name: "a service", token: serviceToken }],
      peppers: [pepper],
      mayExist: () => true,
      findKey: (digests) => this.#keys.find(digests),
      findOperator: async () => undefined,
      findAccount: (id) => this.#accounts.find(id),
      sessions: { isToken: () => false, find: async () => undefined },
      lastUsed: new LastUsed((ids, at) => this.#keys.storeLastUsed(ids, at), clock, logger),
      clock,
    });
  }

  /** The caller as this core knows it by now. Throws UNAUTHENTICATED, LEDGER_UNAVAILABLE. */
  async recognize(caller: Caller, credential: string): Promise<Caller> {
    const found = await this.#authenticator.authenticate(credential, caller.accountId);
    const frozenReason = found.kind === "caller" ? found.frozenReason : undefined;
    return { ...caller, ...(frozenReason !== undefined && { frozenReason }) };
  }

  /** Makes a key that takes the place of another one, which works on for so long. */
  async rotate(keyId: string, overlapMs: number): Promise<{ readonly keyId: string; readonly secret: string }> {
    const { key, secret } = await this.#keys.rotate(keyId, overlapMs);
    this.#changed(key.accountId);
    return { keyId: key.id, secret };
  }

  async revoke(keyId: string): Promise<void> {
    this.#changed((await this.#keys.revoke(keyId)).accountId);
  }

  async freeze(accountId: string): Promise<void> {
    await this.#accounts.freeze(accountId, "the world wants it", new Date(this.#clock.now()));
    this.#changed(accountId);
  }

  async unfreeze(accountId: string): Promise<void> {
    await this.#accounts.unfreeze(accountId);
    this.#changed(accountId);
  }

  /** Other cores find out by themselves: their announcements are lost. */
  #changed(accountId: string): void {
    this.#authenticator.forget(accountId);
    this.#ledger.callIn(accountId).catch(() => {});
  }
}
