import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createCheckout } from "#src/checkout/checkout.ts";
import type { Accounts } from "#src/checkout/dependencies.ts";
import type { ChargeOrder, Found, Provider, RefundOrder, Returned } from "#src/checkout/provider.ts";
import { AutoTopUp, ProviderCustomer } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// A failover into the past loses what was noted of an order that the provider has carried out.

const newDatabase = databases();
const none = async () => {};
const cents = (amount: number) => Number(usd(amount));

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let accountId: string;
  let clock: ManualClock;
  /** In pico-USD. Below 0 it is debt. */
  let balance = 0;
  const moved = new Map<string, number>();
  const charges = new Map<string, Found>();
  const returned: (Returned & { readonly reference: string })[] = [];
  /** The payments that the provider was asked about. */
  const followed: string[] = [];
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    accountId = await makePoorAccount(storage);
    clock = new ManualClock();
    balance = cents(4);
    moved.clear();
    charges.clear();
    returned.length = 0;
    followed.length = 0;
    await storage.orm.em.fork().insert(ProviderCustomer, { accountId, customer: "cus_1" });
  });
  afterEach(() => storage.close());

  const move = (reference: string, amount: number) => {
    if (!moved.has(reference)) {
      moved.set(reference, amount);
      balance += amount;
    }
    return {};
  };
  interface Movement {
    readonly amountPicoUsd: bigint;
    readonly reference: string;
    readonly validateOnly?: boolean;
    readonly intoDebt?: boolean;
  }
  const accounts = {
    topUp: async ({ amountPicoUsd, reference, validateOnly }: Movement) =>
      validateOnly ? {} : move(reference, Number(amountPicoUsd)),
    refund: async ({ amountPicoUsd, reference, intoDebt }: Movement) => {
      if (!moved.has(reference) && !intoDebt && balance < Number(amountPicoUsd)) {
        throw failure(Reason.REFUND_EXCEEDS_BALANCE, "It is spent.");
      }
      return move(reference, -Number(amountPicoUsd));
    },
    listAccounts: async () => ({
      accounts: [{ id: accountId, frozen: false, balancePicoUsd: BigInt(balance), debtPicoUsd: 0n }],
    }),
    getAccount: async () => ({
      account: { lots: [{ kind: LotKind.PAID, remainingPicoUsd: BigInt(balance) }], heldPicoUsd: 0n },
    }),
    freezeAccount: none,
  } as unknown as Accounts;

  /** Carries out each order once. */
  const provider = {
    charge: {
      make: async ({ id, amount }: ChargeOrder) => {
        const reference = `pi_${id}`;
        const paid = { state: "paid" as const, currency: "usd", credit: amount, charged: amount };
        charges.set(reference, charges.get(reference) ?? { ...paid, reference, accountId, order: id });
        return { reference };
      },
      read: async (reference: string) => charges.get(reference),
    },
    refund: {
      make: async ({ id, reference, amount }: RefundOrder) => {
        const made = { id: `re_${id}`, reference, kind: "refund", order: id, amount, state: "gone" } as const;
        if (!returned.some(({ order }) => order === id)) {
          returned.push(made);
        }
        return made;
      },
      list: async (payment: string) => {
        followed.push(payment);
        return returned.filter(({ reference }) => reference === payment);
      },
    },
  } as unknown as Provider;

  function start() {
    const lease = { hold: async () => true, release: none };
    const ledger = {
      accounts,
      topUpOrdered: accounts.topUp,
      isBooked: async (_: unknown, reference: string) => moved.has(reference),
    };
    const deps = { storage, provider, announce: none, clock, random: systemRandom, logger: silentLogger };
    const { autoTopUps, sweep, events, refunds } = createCheckout({ ...deps, ...ledger }, lease);
    const below = { below: cents(5), amount: cents(20), monthly: BigInt(cents(100)) };
    return { set: (wish = {}) => autoTopUps.set(accountId, { ...below, ...wish }), autoTopUps, sweep, events, refunds };
  }
  const em = () => storage.orm.em.fork();
  /** What the provider tells of a payment. */
  const tell = (payment: string, type = "payment_intent.succeeded") => ({
    ...{ id: `evt_${payment}`, type, about: { payment }, ignored: "", claim: undefined },
  });

  /** A charge whose crossing and credit are lost afterwards. Returns the payment at the provider. */
  async function loseCharge({ sweep }: Pick<ReturnType<typeof start>, "sweep">): Promise<string> {
    const before = balance;
    await sweep.run();
    const [reference = ""] = charges.keys();
    expect(balance).toBeGreaterThan(before);
    await em().nativeDelete(ProviderPayment, { accountId });
    await em().nativeUpdate(AutoTopUp, { accountId }, { crossing: 0, charging: null, notBefore: null });
    moved.clear();
    balance = before;
    return reference;
  }

  test("a crossing that is lost is charged once: the charge that it made is found again", async () => {
    const shop = start();
    await shop.set();
    const reference = await loseCharge(shop);
    await shop.sweep.run();
    expect([...charges.keys()]).toEqual([reference]);
    expect([...moved]).toEqual([[reference, cents(20)]]);
    balance = cents(3);
    await shop.sweep.run();
    expect(charges.size).toBe(2);
  });

  test("a lost charge that is told of first answers its crossing, rests where it is too small, and counts in the month", async () => {
    const shop = start();
    await shop.set({ below: cents(40), monthly: BigInt(cents(59)) });
    const reference = await loseCharge(shop);
    expect(await shop.events.handle(tell(reference))).toMatchObject({ outcome: "credited" });
    await shop.sweep.run();
    expect([...charges.keys()]).toEqual([reference]);
    expect(await shop.autoTopUps.get(accountId)).toMatchObject({ charged: BigInt(cents(20)), crossing: 1 });
    balance = cents(41);
    await shop.sweep.run();
    balance = cents(3);
    await shop.sweep.run();
    expect(charges.size).toBe(2);
    expect(await em().count(ProviderPayment, { accountId, origin: "auto", state: "credited" })).toBe(2);
    balance = cents(41);
    await shop.sweep.run();
    balance = cents(3);
    await shop.sweep.run();
    expect(charges.size).toBe(2); // a third one would pass the month's bound
  });

  test("where the setting is lost, too, the next crossing is another one", async () => {
    const shop = start();
    await shop.set();
    const reference = await loseCharge(shop);
    await em().nativeDelete(AutoTopUp, { accountId });
    expect(await shop.events.handle(tell(reference))).toMatchObject({ outcome: "credited" });
    balance = cents(3);
    await shop.set();
    await shop.sweep.run();
    expect(charges.size).toBe(2);
    expect(await em().findOne(AutoTopUp, { accountId })).toMatchObject({ crossing: 2, charging: null });
  });

  const reference = "pi_bought";
  const wish = { accountId: "", reference, amount: cents(20), requestId: "back" };

  async function buy({ events }: ReturnType<typeof start>, payment = reference) {
    const paid = { state: "paid" as const, currency: "usd", credit: cents(20), charged: cents(20) };
    charges.set(payment, { ...paid, reference: payment, accountId, order: undefined });
    await events.handle(tell(payment));
  }
  /** A payment, and a refund of it that is paid back. */
  async function payBack(shop: ReturnType<typeof start>) {
    await buy(shop);
    return shop.refunds.refund(wish);
  }

  /** A refund that is paid back, and that the ledger has lost again. Returns its id. */
  async function loseRefund(shop: ReturnType<typeof start>): Promise<string> {
    const [made] = await payBack(shop);
    const id = made?.id ?? "";
    await em().nativeUpdate(Withdrawal, id, { state: "asked", providerId: null, askAt: new Date(clock.now()) });
    moved.delete(`refund:${id}`);
    balance = cents(1); // the rest of it is spent
    return id;
  }
  const isOwed = async (id: string) => {
    expect(balance).toBe(cents(-19));
    expect(await em().findOne(Withdrawal, id)).toMatchObject({ state: "done", problem: null, askAt: null });
    expect(returned).toHaveLength(1);
  };

  test("a refund that is paid back, and that the ledger has lost, is owed where it is spent since", async () => {
    const shop = start();
    const id = await loseRefund(shop);
    await shop.sweep.run();
    await isOwed(id);
  });

  test("the same where the provider pays it back only after the ledger has refused it", async () => {
    const shop = start();
    const id = await loseRefund(shop);
    const late = returned.splice(0);
    await shop.sweep.run();
    expect(await em().findOne(Withdrawal, id)).toMatchObject({ state: "refused" });
    returned.push(...late);
    await shop.events.handle(tell(reference, "charge.refunded"));
    await isOwed(id);
    await shop.events.handle(tell(reference, "charge.refunded"));
    await isOwed(id);
  });

  test.each([
    { first: "the request is sent again", isTold: false },
    { first: "the provider tells of it", isTold: true },
  ])("a refund that is lost altogether is paid back once: $first", async ({ isTold }) => {
    const shop = start();
    const [made] = await payBack(shop);
    await em().nativeDelete(Withdrawal, { accountId });
    moved.delete(`refund:${made?.id}`);
    balance = cents(24);
    if (isTold) {
      await shop.events.handle(tell(reference, "charge.refunded"));
    }
    expect(await shop.refunds.refund(wish)).toMatchObject([{ id: made?.id, amount: cents(20), state: "done" }]);
    expect(balance).toBe(cents(4));
    expect(returned).toHaveLength(1);
    await expect(shop.refunds.refund({ ...wish, amount: 0, requestId: "more" })).rejects.toThrow("Only 0.00 USD");
    expect(returned).toHaveLength(1);
  });

  test("what a lost refund has paid back is not paid back by another request", async () => {
    const shop = start();
    await payBack(shop);
    await em().nativeDelete(Withdrawal, { accountId });
    await expect(shop.refunds.refund({ ...wish, amount: 0, requestId: "again" })).rejects.toThrow("Only 0.00 USD");
    expect(returned).toHaveLength(1);
  });

  /** Three payments, and a wish to get back what is left of them. */
  async function buyThree(shop: ReturnType<typeof start>, amount = 0) {
    for (const payment of ["pi_1", "pi_2", "pi_3"]) {
      await buy(shop, payment);
      clock.advance(1);
    }
    return { ...wish, accountId, reference: "", amount };
  }

  test("the provider is asked about the payments alone that a refund takes from, and about none where nothing is left", async () => {
    const shop = start();
    const all = await buyThree(shop);
    balance = cents(34);
    await shop.refunds.refund(all);
    expect(followed).toEqual(["pi_1", "pi_2"]);
    expect(returned.map(({ reference, amount }) => [reference, amount])).toEqual([
      ["pi_1", cents(20)],
      ["pi_2", cents(14)],
    ]);
    followed.length = 0;
    await expect(shop.refunds.refund({ ...all, requestId: "more" })).rejects.toThrow("Only 0.00 USD");
    expect(followed).toEqual([]);
  });

  test("a refund takes from the next payment where one before it, lost since, has paid the first one back", async () => {
    const shop = start();
    const some = await buyThree(shop, cents(20));
    await shop.refunds.refund(some);
    await em().nativeDelete(Withdrawal, { accountId });
    moved.clear();
    balance = cents(64);
    followed.length = 0;
    await shop.refunds.refund({ ...some, requestId: "another" });
    expect(followed).toEqual(["pi_1", "pi_2"]);
    expect(returned.map(({ reference }) => reference)).toEqual(["pi_1", "pi_2"]);
    expect(balance).toBe(cents(24));
  });
});
