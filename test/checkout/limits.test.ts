import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { Charges } from "#src/checkout/auto-top-up/charges.ts";
import { Crossings } from "#src/checkout/auto-top-up/crossings.ts";
import { AutoTopUps } from "#src/checkout/auto-top-up/settings.ts";
import type { Customers } from "#src/checkout/customers.ts";
import type { Dependencies } from "#src/checkout/dependencies.ts";
import type { Payments } from "#src/checkout/payments.ts";
import type { Provider } from "#src/checkout/provider.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// A limit is in the way of automatic top-up while a balance is below its bound.

const newDatabase = databases();
const look = 5000;
const hour = 3_600_000;
const minute = 60_000;

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  let accountId: string;
  let limit: Error | undefined;
  let asked = 0;
  let charged = 0;
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock(Date.UTC(2026, 10, 30, 12));
    accountId = await makePoorAccount(storage);
    limit = undefined;
    asked = 0;
    charged = 0;
  });
  afterEach(() => storage.close());

  /** An account with one USD whatever is charged, and a provider that takes every card. */
  function start() {
    const provider = {
      charge: {
        make: async ({ id }: { readonly id: string }) => {
          charged++;
          return { reference: `pi_${id}` };
        },
        read: async () => ({ state: "paid" }),
      },
    } as unknown as Provider;
    const account = { id: accountId, frozen: false, balancePicoUsd: usd(1), debtPicoUsd: 0n };
    const accounts = {
      async topUp() {
        asked++;
        if (limit !== undefined) {
          throw limit;
        }
      },
      listAccounts: async () => ({ accounts: [account] }),
    };
    const parts = { storage, clock, provider, accounts, random: systemRandom, logger: silentLogger };
    const deps = parts as unknown as Dependencies;
    const payments = {
      credit: () => storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { charging: null }),
    } as unknown as Payments;
    const customers = { of: async () => "cus_1" } as unknown as Customers;
    const crossings = new Crossings(deps, new Charges(deps, customers, payments));
    const autoTopUps = new AutoTopUps(deps);
    return {
      set: (monthly = 100) =>
        autoTopUps.set(accountId, { below: Number(usd(5)), amount: Number(usd(20)), monthly: usd(monthly) }),
      async look(times: number) {
        for (let time = 0; time < times; time++) {
          clock.advance(look);
          await crossings.look();
        }
      },
      notBefore: async () => (await autoTopUps.get(accountId))?.notBefore,
    };
  }

  test.each([
    { is: "on 24 hours", reason: Reason.PAYMENT_24H_LIMIT },
    { is: "of one payment", reason: Reason.PAYMENT_ABOVE_MAXIMUM },
  ])("the limit $is is tried again after an hour, and at once when auto top-up is set again", async ({ reason }) => {
    const { set, look } = start();
    await set();
    limit = failure(reason, "a limit");
    asked = 0;
    await look(10);
    expect(asked).toBe(1);
    clock.advance(hour);
    await look(10);
    expect(asked).toBe(2);
    limit = undefined;
    await set();
    await look(1);
    expect(charged).toBe(1);
  });

  test("a month that is used up is looked at again when it is over, and at once when its bound is raised", async () => {
    const { set, look, notBefore } = start();
    await set(20);
    await storage.orm.em.fork().insert(ProviderPayment, {
      ...{ id: systemRandom.uuid(), accountId, origin: "auto", cause: "0", amount: Number(usd(20)), charged: null },
      ...{ state: "credited", session: null, url: null, reference: "pi_0", problem: null },
      ...{ createdAt: new Date(clock.now()), askAt: null },
    });
    asked = 0;
    await look(10);
    expect(asked).toBe(1);
    expect(await notBefore()).toEqual(new Date("2026-12-01"));
    await set(40);
    await look(1);
    expect(charged).toBe(1);
    await storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { notBefore: null });
    await look(10);
    expect(charged).toBe(1);
    clock.advance(12 * hour);
    await look(1);
    expect(charged).toBe(2);
  });

  test("a new month begins at once for a core that charged a moment ago, also where another one found the month used up", async () => {
    const [one, other] = [start(), start()];
    clock.advance(11 * hour + 50 * minute);
    await one.set(20);
    await one.look(1);
    expect(charged).toBe(1);
    await other.look(1);
    expect(await one.notBefore()).toEqual(new Date("2026-12-01"));
    clock.advance(10 * minute);
    await one.look(1);
    expect(charged).toBe(2);
  });
});
