import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { Charges } from "#src/checkout/auto-top-up/charges.ts";
import { Crossings } from "#src/checkout/auto-top-up/crossings.ts";
import { Checkouts } from "#src/checkout/checkouts.ts";
import type { Customers } from "#src/checkout/customers.ts";
import type { Dependencies } from "#src/checkout/dependencies.ts";
import type { Payments } from "#src/checkout/payments.ts";
import type { Provider } from "#src/checkout/provider.ts";
import { Sweep, type Swept } from "#src/checkout/sweep.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// Somebody sets the service's clock an hour forward or back while people pay.

const newDatabase = databases();
const hour = 3_600_000;
const minute = 60_000;
const none = async () => {};

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  let accountId: string;
  const asked: string[] = [];
  const charged: string[] = [];
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock();
    accountId = await makePoorAccount(storage);
    asked.length = 0;
    charged.length = 0;
  });
  afterEach(() => storage.close());

  /** A balance of one USD, whatever is charged, and a provider that takes every card. */
  function start() {
    const provider = {
      checkout: {
        open: async ({ id }: { readonly id: string }) => ({ session: `cs_${id}`, url: "https://pay.example" }),
        read: async (session: string) => {
          asked.push(session);
          return { state: "open" };
        },
      },
      charge: {
        make: async ({ id }: { readonly id: string }) => {
          charged.push(id);
          return { reference: `pi_${id}` };
        },
        read: async () => ({ state: "paid" }),
      },
    } as unknown as Provider;
    const account = { id: accountId, frozen: false, balancePicoUsd: usd(1), debtPicoUsd: 0n };
    const accounts = { topUp: none, listAccounts: async () => ({ accounts: [account] }) };
    const dependencies = { storage, clock, provider, accounts, random: systemRandom, logger: silentLogger };
    const deps = { ...dependencies, announce: none } as unknown as Dependencies;
    const customers = {
      of: async () => "cus_1",
      ask: (_: string, ask: (customer: string) => Promise<unknown>) => ask("cus_1"),
    } as unknown as Customers;
    const payments = {
      credit: () => storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { charging: null }),
    } as unknown as Payments;
    const crossings = new Crossings(deps, new Charges(deps, customers, payments));
    const swept = { payments: { credit: none }, crossings: { look: none } } as unknown as Swept;
    return {
      crossings,
      checkouts: new Checkouts(deps, customers),
      sweep: new Sweep(deps, swept, { hold: async () => true, release: none }),
    };
  }

  test("a charge too small for its bound rests for an hour, also when the clock is set forward by one", async () => {
    const { crossings } = start();
    await storage.orm.em.fork().insert(AutoTopUp, {
      ...{ accountId, below: Number(usd(50)), amount: Number(usd(10)), monthly: usd(100), state: "on" },
      ...{ crossing: 0, charging: null, declines: 0, notBefore: null },
    });
    await crossings.look();
    clock.jump(hour);
    await crossings.look();
    expect(charged).toHaveLength(1);
    clock.advance(hour);
    await crossings.look();
    await crossings.look();
    expect(charged).toHaveLength(2);
    clock.jump(-hour);
    await crossings.look();
    clock.advance(2 * hour);
    await crossings.look();
    expect(charged).toHaveLength(3);
  });

  test("a checkout opened while the clock is ahead is asked about within that hour more, and soon where somebody waits", async () => {
    const { checkouts, sweep } = start();
    await sweep.run(); // asks about everything that is open at the start
    clock.jump(hour);
    const open = (requestId: string) =>
      checkouts.open({ accountId, amount: Number(usd(25)), requestId, returnUrl: "https://console.example/" });
    const [left, watched] = [await open("left"), await open("watched")];
    clock.jump(-hour);
    await checkouts.watch(watched.id);
    clock.advance(minute);
    await sweep.run();
    expect(asked).toEqual([`cs_${watched.id}`]);
    clock.advance(hour + 10 * minute);
    await sweep.run();
    expect(asked).toContain(`cs_${left.id}`);
    expect(await open("left")).toEqual(left);
  });
});
