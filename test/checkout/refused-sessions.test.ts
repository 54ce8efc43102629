import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { createCheckout } from "#src/checkout/checkout.ts";
import type { Dependencies } from "#src/checkout/dependencies.ts";
import { type Found, type Provider, RefusedByProvider } from "#src/checkout/provider.ts";
import { ProviderCustomer } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// The provider refuses to tell of a session: it was opened with another key, such as that of its test mode.

const newDatabase = databases();
const minute = 60_000;
const hour = 60 * minute;
const none = async () => {};

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  let accountId: string;
  let failure: Error | undefined;
  let asked = 0;
  const warnings: string[] = [];
  const credited: string[] = [];
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock();
    accountId = await makePoorAccount(storage);
    await storage.orm.em.fork().insert(ProviderCustomer, { accountId, customer: "cus_1" });
    failure = new RefusedByProvider("No such checkout.session");
    asked = 0;
    warnings.length = 0;
    credited.length = 0;
  });
  afterEach(() => storage.close());

  async function start() {
    let found: Found["state"] = "open";
    let order = "";
    const provider = {
      checkout: {
        open: async ({ id }: { readonly id: string }) => {
          order = id;
          return { session: `cs_${id}`, url: "https://pay.example" };
        },
        read: async (): Promise<Found> => {
          asked++;
          if (failure !== undefined) {
            throw failure;
          }
          const amount = Number(usd(25));
          const facts = { accountId, order, currency: "usd", credit: amount, charged: amount };
          return { ...facts, state: found, reference: found === "paid" ? "pi_1" : undefined };
        },
      },
    } as unknown as Provider;
    const topUp = async ({ reference, validateOnly }: { reference: string; validateOnly?: boolean }) => {
      validateOnly || credited.push(reference);
    };
    const accounts = { topUp, listAccounts: async () => ({ accounts: [] }) };
    const deps = {
      ...{ storage, clock, provider, accounts, random: systemRandom, announce: none, topUpOrdered: topUp },
      logger: { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) },
      isBooked: async (_: unknown, reference: string) => credited.includes(reference),
    } as unknown as Dependencies;
    const lease = { hold: async () => true, release: none };
    const { checkouts, sweep: first, events } = createCheckout(deps, lease);
    let sweep = first;
    const returnUrl = "https://console.example/";
    const { id } = await checkouts.open({ accountId, amount: Number(usd(25)), requestId: "one", returnUrl });
    return {
      get: () => storage.orm.em.fork().findOneOrFail(ProviderPayment, id),
      /** Lets time pass, and looks as often as every ten minutes. */
      async pass(ms: number) {
        for (let passed = 0; passed < ms; passed += 10 * minute) {
          clock.advance(Math.min(10 * minute, ms - passed));
          await sweep.run();
        }
      },
      /** Another process takes over. */
      restart() {
        sweep = createCheckout(deps, lease).sweep;
      },
      /** The first one takes over again. */
      goBack() {
        sweep = first;
      },
      pay() {
        found = "paid";
        failure = undefined;
      },
      tell: () =>
        events.handle({
          ...{ id: "evt_1", type: "checkout.session.completed", about: { session: `cs_${id}` } },
          ...{ ignored: "", claim: undefined },
        }),
    };
  }

  test("it is asked about by the hour, and is over after a day; paid all the same, its event credits it", async () => {
    const { get, pass, pay, tell } = await start();
    await pass(hour);
    const before = asked;
    await pass(4 * hour);
    expect(asked - before).toBe(4);
    await pass(18 * hour);
    expect(await get()).toMatchObject({ state: "open" });
    await pass(4 * hour);
    expect(await get()).toMatchObject({ state: "expired", askAt: null });
    expect(warnings.at(-1)).toContain("its event credits it if it was paid");
    const after = asked;
    await pass(2 * hour);
    expect(asked).toBe(after);
    pay();
    expect(await tell()).toMatchObject({ outcome: "credited" });
    expect(await get()).toMatchObject({ state: "credited" });
    expect(credited).toEqual(["pi_1"]);
  });

  test("a wrong key of an hour ends nothing, however old a session is, and it is credited within the next one", async () => {
    const { get, pass, pay } = await start();
    failure = new Error("no answer");
    await pass(72 * hour);
    failure = new RefusedByProvider("No such checkout.session");
    await pass(hour);
    expect(await get()).toMatchObject({ state: "open" });
    pay();
    await pass(hour);
    expect(await get()).toMatchObject({ state: "credited" });
  });

  test("it is over after a day also where processes take turns, each of which sees a part of the refusals", async () => {
    const { get, pass, restart } = await start();
    for (let day = 0; day < 3; day++) {
      expect(await get()).toMatchObject({ state: "open" });
      restart();
      await pass(8 * hour);
    }
    restart();
    await pass(3 * hour);
    expect(await get()).toMatchObject({ state: "expired", askAt: null });
  });

  test("an answer that another process got in between begins the day anew", async () => {
    const { get, pass, restart, goBack } = await start();
    await pass(20 * hour);
    const refusal = failure;
    restart();
    failure = undefined;
    await pass(24 * hour);
    failure = refusal;
    goBack();
    await pass(24 * hour);
    expect(await get()).toMatchObject({ state: "open" });
    await pass(26 * hour);
    expect(await get()).toMatchObject({ state: "expired" });
  });

  test("what is known to be paid is never given up", async () => {
    const { get, pass, pay } = await start();
    await storage.orm.em.fork().nativeUpdate(ProviderPayment, { accountId }, { state: "paid", reference: "pi_1" });
    await pass(72 * hour);
    expect(await get()).toMatchObject({ state: "paid" });
    pay();
    await pass(hour);
    expect(await get()).toMatchObject({ state: "credited" });
  });
});
