import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { createCheckout } from "#src/checkout/checkout.ts";
import type { Dependencies } from "#src/checkout/dependencies.ts";
import type { ChargeOrder, Provider } from "#src/checkout/provider.ts";
import { AutoTopUp, ProviderCustomer } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// An account changes between the look at its balance and the charge of its card.

const newDatabase = databases();
const minute = 60_000;
const none = async () => {};

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  /** What the provider has charged, by order. */
  const charges = new Map<string, ChargeOrder>();
  const accounts = new Map<string, { balance: bigint; frozen: boolean }>();
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock();
    charges.clear();
    accounts.clear();
  });
  afterEach(() => storage.close());

  /** An account with one USD, whose card is charged with 20 USD below 5. */
  async function customer(): Promise<string> {
    const accountId = await makePoorAccount(storage);
    accounts.set(accountId, { balance: usd(1), frozen: false });
    const em = storage.orm.em.fork();
    await em.insert(ProviderCustomer, { accountId, customer: `cus_${accountId}` });
    await em.insert(AutoTopUp, {
      ...{ accountId, below: Number(usd(5)), amount: Number(usd(20)), monthly: usd(100), state: "on" },
      ...{ crossing: 0, charging: null, declines: 0, notBefore: null },
    });
    return accountId;
  }
  const of = (accountId: string) => accounts.get(accountId) as { balance: bigint; frozen: boolean };
  const chargesOf = (accountId: string) => [...charges.values()].filter((one) => one.accountId === accountId).length;
  const setting = (accountId: string) => storage.orm.em.fork().findOneOrFail(AutoTopUp, { accountId });

  /** `during`: what happens while the provider is asked, before it charges; it may fail. `after`: once it has charged. */
  function start(during: (order: ChargeOrder) => void = () => {}, after: () => void = () => {}) {
    const provider = {
      charge: {
        async make(order: ChargeOrder, mayCharge: () => Promise<boolean>) {
          during(order);
          if (!charges.has(order.id) && !(await mayCharge())) {
            return undefined;
          }
          charges.set(order.id, order);
          after();
          return { reference: `pi_${order.id}` };
        },
        async read(reference: string) {
          const order = reference.slice("pi_".length);
          const { accountId, amount } = charges.get(order) as ChargeOrder;
          return { state: "paid", reference, accountId, order, currency: "usd", credit: amount, charged: amount };
        },
      },
    } as unknown as Provider;
    const booked = new Set<string>();
    const topUp = async (of: {
      accountId: string;
      amountPicoUsd: bigint;
      reference: string;
      validateOnly?: boolean;
    }) => {
      const account = accounts.get(of.accountId);
      if (account && !of.validateOnly && !booked.has(of.reference)) {
        booked.add(of.reference);
        account.balance += of.amountPicoUsd;
      }
      return {};
    };
    const listAccounts = async ({ accountIds }: { readonly accountIds: readonly string[] }) => ({
      accounts: accountIds.map((id) => ({
        id,
        frozen: of(id).frozen,
        balancePicoUsd: of(id).balance,
        debtPicoUsd: 0n,
      })),
    });
    const deps = {
      ...{ storage, clock, provider, random: systemRandom, announce: none, logger: silentLogger },
      ...{ accounts: { topUp, listAccounts }, topUpOrdered: topUp },
      isBooked: async (_: unknown, reference: string) => booked.has(reference),
    } as unknown as Dependencies;
    return createCheckout(deps, { hold: async () => true, release: none });
  }

  test.each([
    { what: "is frozen", change: { frozen: true } },
    { what: "gets money", change: { balance: usd(51) } },
  ])("an account that $what while another one's card is charged is not charged", async ({ change }) => {
    const [first, second] = [await customer(), await customer()];
    const { sweep } = start(({ accountId }) => {
      if (accountId === first) {
        Object.assign(of(second), change);
      }
    });
    await sweep.run();
    expect([chargesOf(first), chargesOf(second)]).toEqual([1, 0]);
    expect(await setting(second)).toMatchObject({ charging: null });
  });

  test("a charge that the provider does not have yet ends where its account is frozen, and the next one follows the unfreezing", async () => {
    const accountId = await customer();
    let isDown = true;
    const { sweep } = start(() => {
      if (isDown) {
        throw new Error("no answer");
      }
    });
    await sweep.run();
    expect((await setting(accountId)).charging).not.toBeNull();
    of(accountId).frozen = true;
    isDown = false;
    clock.advance(2 * minute);
    await sweep.run();
    expect(chargesOf(accountId)).toBe(0);
    expect(await setting(accountId)).toMatchObject({ charging: null, declines: 0, notBefore: null, state: "on" });
    const [ended] = await storage.orm.em.fork().find(ProviderPayment, { accountId });
    expect(ended).toMatchObject({ state: "expired", askAt: null });
    of(accountId).frozen = false;
    await sweep.run();
    expect(chargesOf(accountId)).toBe(1);
    expect(of(accountId).balance).toBe(usd(21));
  });

  test("a charge that the provider has is credited, although its account is frozen by then", async () => {
    const accountId = await customer();
    let isLost = true;
    const { sweep } = start(undefined, () => {
      if (isLost) {
        throw new Error("the answer is lost");
      }
    });
    await sweep.run();
    of(accountId).frozen = true;
    isLost = false;
    clock.advance(2 * minute);
    await sweep.run();
    expect(of(accountId).balance).toBe(usd(21));
    expect(await setting(accountId)).toMatchObject({ charging: null });
  });

  test("a charge that the provider does not have yet ends where auto top-up is turned off", async () => {
    const accountId = await customer();
    let isDown = true;
    const { sweep } = start(() => {
      if (isDown) {
        throw new Error("no answer");
      }
    });
    await sweep.run();
    await storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { state: "off" });
    isDown = false;
    clock.advance(2 * minute);
    await sweep.run();
    expect(chargesOf(accountId)).toBe(0);
    expect(await setting(accountId)).toMatchObject({ charging: null, state: "off" });
  });
});
