import { createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { AutoTopUpState } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { StandIn } from "../../simulator/stripe/server.ts";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { connectEvents, hasBalance, openShop, openStripe, press, type Shop, usd } from "./shop.ts";

const newDatabase = databases();

describe.each(dialects)("on %s", (dialect) => {
  let url: string;
  let stripe: StandIn;
  let shop: Shop;
  const others: Shop[] = [];

  beforeEach(async () => {
    stripe = await openStripe();
    url = await newDatabase(dialect);
    shop = await openShop(url, stripe);
    connectEvents(stripe, shop);
  }, 60_000);
  afterEach(async () => {
    expect(await shop.proves()).toEqual([]);
    await Promise.all([shop, ...others.splice(0)].map((one) => one.stop()));
    await stripe.close();
  }, 60_000);

  /** An account with 25 USD and a saved card. */
  const customer = async (saves = true) => {
    const accountId = await shop.account();
    const { url: page } = await shop.payments.createCheckout({ accountId, amountPicoUsd: usd(25), requestId: "first" });
    await press(page, "paid", saves);
    await hasBalance(shop, accountId, usd(25));
    return accountId;
  };
  const set = (accountId: string, below = 5, amount = 20, monthly = 100) =>
    shop.payments.setAutoTopUp({
      accountId,
      belowPicoUsd: usd(below),
      amountPicoUsd: usd(amount),
      monthlyPicoUsd: usd(monthly),
    });
  const spendTo = async (accountId: string, left: number) => {
    const amountPicoUsd = (await shop.balance(accountId)) - usd(left);
    await shop.accounts.refund({ accountId, amountPicoUsd, reference: `spent ${amountPicoUsd} ${Math.random()}` });
  };
  const get = async (accountId: string) => (await shop.payments.getAutoTopUp({ accountId })).autoTopUp;
  const charges = () => [...stripe.state.intents.values()].filter(({ description }) => description === null).length - 1;

  test("a balance below its bound is filled up once, and again at the next crossing", async () => {
    const accountId = await customer();
    await set(accountId);
    await spendTo(accountId, 4);
    await hasBalance(shop, accountId, usd(24));
    await spendTo(accountId, 1);
    await hasBalance(shop, accountId, usd(21));
    expect(charges()).toBe(2);
    expect(await get(accountId)).toMatchObject({ state: AutoTopUpState.ON, chargedPicoUsd: usd(40), declines: 0 });
  }, 60_000);

  test("a charge too small for the bound answers its crossing; the next follows once the balance has been there", async () => {
    const accountId = await customer();
    await set(accountId, 40, 10);
    const rests = async () => {
      const now = await get(accountId);
      return now?.chargedPicoUsd === usd(10) && now.notBefore !== undefined;
    };
    await eventually("it is charged, and rests", rests);
    const other = await customer();
    await set(other, 30, 10);
    await hasBalance(shop, other, usd(35)); // so the watch has looked at both again
    expect(await shop.balance(accountId)).toBe(usd(35));
    await shop.accounts.topUp({ accountId, amountPicoUsd: usd(10), reference: `by hand ${accountId}` });
    await eventually("the crossing is over", async () => (await get(accountId))?.notBefore === undefined);
    await spendTo(accountId, 39);
    await hasBalance(shop, accountId, usd(49));
    expect(await get(accountId)).toMatchObject({ chargedPicoUsd: usd(20) });
    expect(await get(other)).toMatchObject({ chargedPicoUsd: usd(10) });
  }, 60_000);

  test("a charge under way that is too small answers its crossing, also when auto top-up is set again meanwhile", async () => {
    const accountId = await customer();
    Object.assign(stripe.faults, { silent: Number.POSITIVE_INFINITY, path: "/v1/payment_intents", hides: true });
    stripe.events.faults.lose = true; // an event would tell what the answers did not
    await set(accountId, 40, 10);
    await eventually("its charge is under way", async () => (await get(accountId))?.chargedPicoUsd === usd(10));
    await set(accountId, 41, 10);
    await shop.stop();
    stripe.faults.silent = 0;
    stripe.events.faults.lose = false;
    shop = await openShop(url, stripe); // it asks about everything that is open
    connectEvents(stripe, shop);
    await hasBalance(shop, accountId, usd(35));
    const other = await customer();
    await set(other, 30, 10);
    await hasBalance(shop, other, usd(35)); // so the watch has looked at both again
    expect(await get(accountId)).toMatchObject({ chargedPicoUsd: usd(10), notBefore: expect.anything() });
    await set(accountId, 41, 10);
    await hasBalance(shop, accountId, usd(45)); // nothing is under way: it begins anew
  }, 60_000);

  test("a lost answer and lost events charge once", async () => {
    stripe.events.faults.lose = false;
    const accountId = await customer();
    stripe.events.faults.lose = true;
    await set(accountId);
    Object.assign(stripe.faults, { silent: 1, path: "/v1/payment_intents" });
    await spendTo(accountId, 4);
    await hasBalance(shop, accountId, usd(24));
    expect(charges()).toBe(1);
  }, 60_000);

  test("no more is charged in a month than was allowed", async () => {
    const accountId = await customer();
    await set(accountId, 5, 20, 39);
    await spendTo(accountId, 4);
    await hasBalance(shop, accountId, usd(24));
    await spendTo(accountId, 4);
    const other = await customer();
    await set(other);
    await spendTo(other, 4);
    await hasBalance(shop, other, usd(24)); // so the watch has looked at both
    expect(await shop.balance(accountId)).toBe(usd(4));
  }, 60_000);

  test("a declined card is told, and rests for a day", async () => {
    const accountId = await customer();
    for (const card of stripe.state.cards.keys()) {
      stripe.state.declining.add(card);
    }
    await set(accountId);
    await spendTo(accountId, 4);
    const found = await eventually("it is declined", async () => {
      const now = await get(accountId);
      return now?.declines === 1 ? now : undefined;
    });
    expect(found.state).toBe(AutoTopUpState.ON);
    expect(Number(found.notBefore?.seconds) - Date.now() / 1000).toBeGreaterThan(80_000);
    const { events } = await createClient(EventsService, shop.operator).listEvents({
      types: ["auto_top_up.declined"],
    });
    expect(events).toHaveLength(1);
    expect(await shop.balance(accountId)).toBe(usd(4));
  }, 60_000);

  test("without a saved card nothing is charged, and a frozen account is left alone", async () => {
    const frozen = await customer();
    await shop.accounts.freezeAccount({ accountId: frozen, reason: "a test" });
    await set(frozen);
    await spendTo(frozen, 4);
    const accountId = await customer(false);
    await set(accountId);
    await spendTo(accountId, 4);
    await eventually("it is declined", async () => (await get(accountId))?.declines === 1);
    expect((await get(accountId))?.problem).toBe("No card is saved.");
    expect(await get(frozen)).toMatchObject({ declines: 0, chargedPicoUsd: 0n });
  }, 60_000);

  test("a charge that broke off before Stripe had it is made no more once its account is frozen", async () => {
    const accountId = await customer();
    Object.assign(stripe.faults, { failing: Number.POSITIVE_INFINITY, path: "/v1/payment_intents" });
    await set(accountId);
    await spendTo(accountId, 4);
    const tries = () => stripe.requests.filter(({ method, path }) => method === "POST" && path === stripe.faults.path);
    await eventually("its charge has failed twice", async () => tries().length === 2);
    await shop.accounts.freezeAccount({ accountId, reason: "a test" });
    await shop.stop();
    stripe.faults.failing = 0;
    shop = await openShop(url, stripe); // it asks about everything that is open
    connectEvents(stripe, shop);
    await eventually("it is over", async () => (await get(accountId))?.chargedPicoUsd === 0n);
    expect(charges()).toBe(0);
    await shop.accounts.unfreezeAccount({ accountId });
    await hasBalance(shop, accountId, usd(24));
    expect(charges()).toBe(1);
  }, 60_000);

  test("it is off unless set, refused where it makes no sense, and turned off by an amount of 0", async () => {
    const accountId = await shop.account();
    expect(await get(accountId)).toMatchObject({ state: AutoTopUpState.OFF });
    await expect(set(accountId, 5, 4)).rejects.toThrow("minimum");
    await expect(set(accountId, 5, 20, 19)).rejects.toThrow("month");
    expect((await set(accountId)).autoTopUp).toMatchObject({ state: AutoTopUpState.ON, amountPicoUsd: usd(20) });
    expect((await set(accountId, 0, 0, 0)).autoTopUp).toMatchObject({ state: AutoTopUpState.OFF });
  }, 60_000);

  if (dialect === "postgresql") {
    // A day passes in the database: another process may open it.
    test("three declines in a row switch it off, each is told, and setting it again begins anew", async () => {
      const accountId = await customer();
      for (const card of stripe.state.cards.keys()) {
        stripe.state.declining.add(card);
      }
      await set(accountId);
      await spendTo(accountId, 4);
      const storage = await openStorage(url);
      for (const declines of [1, 2, 3]) {
        await eventually(`decline ${declines}`, async () => (await get(accountId))?.declines === declines);
        // A day passes.
        await storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { notBefore: null });
      }
      await storage.close();
      expect(await get(accountId)).toMatchObject({ state: AutoTopUpState.DECLINED, chargedPicoUsd: 0n });
      const { events } = await createClient(EventsService, shop.operator).listEvents({
        types: ["auto_top_up.declined"],
      });
      const told = events.map(({ data }) => [data?.declines, data?.switched_off]);
      expect(told.toSorted()).toEqual([
        [1, false],
        [2, false],
        [3, true],
      ]);
      stripe.state.declining.clear();
      await set(accountId);
      await hasBalance(shop, accountId, usd(24));
    }, 90_000);

    test("two cores charge once at one crossing", async () => {
      others.push(await openShop(url, stripe), await openShop(url, stripe));
      const accountId = await customer();
      await set(accountId);
      await spendTo(accountId, 4);
      await hasBalance(shop, accountId, usd(24));
      expect(charges()).toBe(1);
    }, 60_000);
  }
});
