import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { Charges } from "#src/checkout/auto-top-up/charges.ts";
import { Crossings } from "#src/checkout/auto-top-up/crossings.ts";
import { AutoTopUps } from "#src/checkout/auto-top-up/settings.ts";
import type { Customers } from "#src/checkout/customers.ts";
import type { Dependencies } from "#src/checkout/dependencies.ts";
import type { Payments } from "#src/checkout/payments.ts";
import type { Provider } from "#src/checkout/provider.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// Somebody sets automatic top-up again while a look at his account is under way.

const newDatabase = databases();
const hour = 3_600_000;
const none = async () => {};

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  let accountId: string;
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock();
    accountId = await makePoorAccount(storage);
  });
  afterEach(() => storage.close());

  /** An account with 10 USD, and a provider that takes every card. */
  function start(during: { judged?: () => Promise<void>; charged?: () => Promise<void> } = {}) {
    let balance = usd(10);
    const charged: string[] = [];
    const provider = {
      charge: {
        async make({ id, amount }: { readonly id: string; readonly amount: number }) {
          charged.push(id);
          await during.charged?.();
          balance += BigInt(amount);
          return { reference: `pi_${id}` };
        },
        read: async () => ({ state: "paid" }),
      },
    } as unknown as Provider;
    const accounts = {
      topUp: none,
      async listAccounts() {
        const account = { id: accountId, frozen: false, balancePicoUsd: balance, debtPicoUsd: 0n };
        await during.judged?.();
        return { accounts: [account] };
      },
    };
    const parts = { storage, clock, provider, accounts, random: systemRandom, logger: silentLogger };
    const deps = { ...parts, announce: none } as unknown as Dependencies;
    const payments = {
      credit: () => storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { charging: null }),
    } as unknown as Payments;
    const customers = { of: async () => "cus_1" } as unknown as Customers;
    const crossings = new Crossings(deps, new Charges(deps, customers, payments));
    const autoTopUps = new AutoTopUps(deps);
    const set = (below: number) =>
      autoTopUps.set(accountId, { below: Number(usd(below)), amount: Number(usd(20)), monthly: usd(500) });
    return { charged, crossings, set };
  }

  test("a balance that is not below a bound lowered meanwhile is not charged", async () => {
    const during: { judged?: () => Promise<void> } = {};
    const { charged, crossings, set } = start(during);
    await set(15);
    during.judged = () => set(5);
    await crossings.look();
    expect(charged).toEqual([]);
  });

  test("a charge under way answers its crossing, also when the bound is raised beyond it meanwhile", async () => {
    const during: { charged?: () => Promise<void> } = {};
    const { charged, crossings, set } = start(during);
    await set(15);
    during.charged = () => set(40);
    await crossings.look();
    await crossings.look();
    expect(charged).toHaveLength(1);
    delete during.charged;
    clock.advance(hour);
    await crossings.look();
    expect(charged).toHaveLength(2);
  });
});
