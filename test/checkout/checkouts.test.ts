import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { CheckoutState } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { StandIn } from "../../simulator/stripe/server.ts";
import { databases, dialects } from "../money/databases.ts";
import { skipTime } from "../support/clocks/skip-time.ts";
import { eventually } from "../support/eventually.ts";
import { reasonOf } from "../support/reason-of.ts";
import { connectEvents, hasBalance, openShop, openStripe, press, type Shop, sendEvent, usd } from "./shop.ts";

// A core, the stand-in for Stripe, and real signatures over real HTTP.

const newDatabase = databases();
describe.each(dialects)("on %s", (dialect) => {
  let url: string;
  let stripe: StandIn;
  let shop: Shop;

  beforeEach(async () => {
    stripe = await openStripe();
    url = await newDatabase(dialect);
    shop = await openShop(url, stripe);
    connectEvents(stripe, shop);
  }, 60_000);
  afterEach(async () => {
    await shop.stop();
    await stripe.close();
  }, 60_000);

  const open = async (accountId: string, amount = 25, requestId = "one") =>
    shop.payments.createCheckout({ accountId, amountPicoUsd: usd(amount), requestId });
  const stateOf = async (checkoutId: string) => (await shop.payments.getCheckout({ checkoutId })).state;

  test("a paid checkout is credited once, whatever its two events say and how often they come", async () => {
    stripe.events.faults.times = 2;
    const accountId = await shop.account();
    const { url: page, checkoutId } = await open(accountId);
    expect(await stateOf(checkoutId)).toBe(CheckoutState.OPEN);
    const paid = await press(page, "paid");
    expect([paid.status, paid.headers.get("location")]).toEqual([303, expect.stringContaining(checkoutId)]);
    await eventually("all four deliveries are answered", () => shop.answers.length >= 4);
    expect(await stateOf(checkoutId)).toBe(CheckoutState.CREDITED);
    expect(await shop.balance(accountId)).toBe(usd(25));
    expect(await shop.proves()).toEqual([]);
  }, 60_000);

  test("what was ordered is credited though a payment may be no more so large when it is paid", async () => {
    const accountId = await shop.account();
    const { url: page, checkoutId } = await open(accountId, 500);
    await shop.stop();
    shop = await openShop(url, stripe, {}, undefined, { maximum_usd: "50", rolling_24h_usd: "100" });
    connectEvents(stripe, shop);
    await press(page, "paid");
    await hasBalance(shop, accountId, usd(500));
    await eventually("it is told", async () => (await stateOf(checkoutId)) === CheckoutState.CREDITED);
    expect(await reasonOf(open(accountId, 500, "two"))).toBe(Reason.PAYMENT_ABOVE_MAXIMUM);
  }, 60_000);

  test("an account whom Stripe does not know any more, as after another key, pays as somebody new", async () => {
    const accountId = await shop.account();
    await press((await open(accountId)).url, "paid");
    await eventually("it is credited", async () => (await shop.balance(accountId)) === usd(25));
    stripe.state.customers.clear();
    const returnUrl = "http://localhost/money";
    expect((await shop.payments.listInvoices({ accountId })).invoices).toEqual([]);
    expect((await shop.payments.createPortalSession({ accountId, returnUrl })).url).toContain(stripe.url);
    stripe.state.customers.clear();
    const again = await open(accountId, 25, "two");
    expect(await open(accountId, 25, "two")).toEqual(again);
    await press(again.url, "paid");
    await eventually("it is credited again", async () => (await shop.balance(accountId)) === usd(50));
    expect(stripe.state.customers.size).toBe(1);
  }, 60_000);

  test("the same request gets the same session, and another amount under its id is refused", async () => {
    const accountId = await shop.account();
    const [one, other] = await Promise.all([open(accountId), open(accountId)]);
    expect(other).toEqual(one);
    expect(stripe.state.sessions.size).toBe(1);
    expect(await reasonOf(open(accountId, 30))).toBe(Reason.PAYMENT_REFERENCE_CONFLICT);
  }, 60_000);

  test.each([
    [0.005, Reason.PAYMENT_BELOW_MINIMUM],
    [4.99, Reason.PAYMENT_BELOW_MINIMUM],
    [1001, Reason.PAYMENT_ABOVE_MAXIMUM],
  ])(
    "%s USD are refused by their limit before Stripe is asked",
    async (amount, reason) => {
      const accountId = await shop.account();
      const amountPicoUsd = BigInt(Math.round(amount * 1000)) * 1_000_000_000n;
      expect(await reasonOf(shop.payments.createCheckout({ accountId, amountPicoUsd, requestId: "x" }))).toBe(reason);
      expect(stripe.requests).toEqual([]);
    },
    60_000,
  );

  test("nothing, parts of cents and an unknown account are refused before Stripe is asked", async () => {
    const accountId = await shop.account();
    const of = (amountPicoUsd: bigint, id = accountId) =>
      reasonOf(shop.payments.createCheckout({ accountId: id, amountPicoUsd, requestId: "x" }));
    expect(await of(0n)).toBe(Reason.INVALID_ARGUMENT);
    expect(await of(usd(5) + 1n)).toBe(Reason.INVALID_ARGUMENT);
    expect(await of(usd(5), "018f0000-0000-7000-8000-000000000000")).toBe(Reason.ACCOUNT_NOT_FOUND);
    expect(stripe.requests).toEqual([]);
  }, 60_000);

  test.each(["", "with spaces", "päckchen", "x".repeat(65)])(
    "the request id %j is refused by name, of checkouts and of refunds",
    async (requestId) => {
      const accountId = await shop.account();
      for (const refused of [
        shop.payments.createCheckout({ accountId, amountPicoUsd: usd(25), requestId }),
        shop.payments.refundPayment({ accountId, requestId }),
      ]) {
        const detail = await refused.then(
          () => undefined,
          (error: unknown) => readDetail(error),
        );
        expect(detail).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "request_id" });
      }
      expect(stripe.requests).toEqual([]);
    },
    60_000,
  );

  test("the limit of 24 hours counts what was paid", async () => {
    const accountId = await shop.account();
    await press((await open(accountId, 990)).url, "paid");
    await hasBalance(shop, accountId, usd(990));
    expect(await reasonOf(open(accountId, 25, "two"))).toBe(Reason.PAYMENT_24H_LIMIT);
  }, 60_000);

  test("two sessions paid at once are both credited; what is over the limit of a day is paid, and waits", async () => {
    const accountId = await shop.account();
    const [one, other, over] = await Promise.all([
      open(accountId, 500, "one"),
      open(accountId, 400, "two"),
      open(accountId, 200, "three"),
    ]);
    await Promise.all([press(one.url, "paid"), press(other.url, "paid")]);
    await hasBalance(shop, accountId, usd(900));
    await press(over.url, "paid");
    const waits = await eventually("it waits", async () => {
      const found = await shop.payments.getCheckout({ checkoutId: over.checkoutId });
      return found.problem === "" ? undefined : found;
    });
    expect(waits).toMatchObject({ state: CheckoutState.PAID, problem: expect.stringContaining("24 hours") });
    expect(await shop.balance(accountId)).toBe(usd(900));
  }, 60_000);

  test("a lost answer of Stripe's makes no second session", async () => {
    const accountId = await shop.account();
    stripe.faults.silent = 3;
    await open(accountId).catch(() => undefined);
    const { url: page } = await open(accountId).catch(() => open(accountId));
    expect(stripe.state.sessions.size).toBe(1);
    await press(page, "paid");
    await hasBalance(shop, accountId, usd(25));
  }, 60_000);

  test("a declined card and a cancelled checkout credit nothing, and leave the session open", async () => {
    const accountId = await shop.account();
    const { url: page, checkoutId } = await open(accountId);
    expect((await press(page, "declined")).status).toBe(402);
    expect((await press(page, "canceled")).headers.get("location")).toContain("canceled=1");
    expect(await stateOf(checkoutId)).toBe(CheckoutState.OPEN);
    await press(page, "paid");
    await press(page, "paid");
    await hasBalance(shop, accountId, usd(25));
    expect(stripe.state.intents.size).toBe(1);
  }, 60_000);

  test("events that never come are made up for after a restart", async () => {
    stripe.events.faults.lose = true;
    const accountId = await shop.account();
    const { url: page, checkoutId } = await open(accountId);
    await press(page, "paid");
    await shop.stop();
    shop = await openShop(url, stripe);
    await eventually("it is credited", async () => (await stateOf(checkoutId)) === CheckoutState.CREDITED);
    expect(await shop.balance(accountId)).toBe(usd(25));
  }, 60_000);

  test("events that never come are made up for while somebody waits", async () => {
    stripe.events.faults.lose = true;
    const accountId = await shop.account();
    const { url: page, checkoutId } = await open(accountId);
    await press(page, "paid");
    expect(await stateOf(checkoutId)).toBe(CheckoutState.OPEN);
    skipTime(15_000);
    await eventually("it is credited", async () => (await stateOf(checkoutId)) === CheckoutState.CREDITED);
    const asked = stripe.requests.filter(({ path }) => /sessions\/cs_/.test(path));
    expect(asked.length).toBeLessThanOrEqual(4);
  }, 60_000);

  test.each([
    { debit: "paid", isPaid: true, state: CheckoutState.CREDITED, isTold: true },
    { debit: "that failed", isPaid: false, state: CheckoutState.EXPIRED, isTold: true },
    { debit: "that failed, of which no event tells", isPaid: false, state: CheckoutState.EXPIRED, isTold: false },
  ])(
    "a bank's debit $debit ends its session, which is open until then",
    async ({ isPaid, state, isTold }) => {
      const accountId = await shop.account();
      const { checkoutId } = await open(accountId);
      const [session] = stripe.state.sessions.values();
      session && stripe.bank.debit(session);
      await eventually("its event is answered", () => shop.answers.length === 1);
      expect(await stateOf(checkoutId)).toBe(CheckoutState.OPEN);
      stripe.events.faults.lose = !isTold;
      session && stripe.bank.settle(session, isPaid);
      skipTime(isTold ? 0 : 15_000);
      await eventually("it is over", async () => (await stateOf(checkoutId)) === state);
      expect(await shop.balance(accountId)).toBe(isPaid ? usd(25) : 0n);
    },
    60_000,
  );

  test("an expired session is over", async () => {
    const accountId = await shop.account();
    const { checkoutId } = await open(accountId);
    const [session = ""] = stripe.state.sessions.keys();
    await fetch(`${stripe.url}/v1/checkout/sessions/${session}/expire`, {
      method: "POST",
      headers: { authorization: "Bearer sk_test_x" },
    });
    await eventually("it is known", async () => (await stateOf(checkoutId)) === CheckoutState.EXPIRED);
  }, 60_000);

  test("forged, replayed and altered events credit what Stripe says when asked, and nothing else", async () => {
    stripe.events.faults.lose = true;
    const accountId = await shop.account();
    await open(accountId);
    const [session = ""] = stripe.state.sessions.keys();
    const metadata = { account_id: accountId };
    const object = {
      id: session,
      payment_status: "paid",
      amount_subtotal: 90_000,
      amount_total: 90_000,
      currency: "usd",
      metadata,
    };
    const event = { id: "evt_1", type: "checkout.session.completed", data: { object } };
    expect(await sendEvent(shop, event, "whsec_of_somebody_else")).toBe(400);
    expect(await sendEvent(shop, event)).toBe(200); // nobody has paid
    expect(await shop.balance(accountId)).toBe(0n);
    await press(stripe.state.sessions.get(session)?.url ?? "", "paid");
    expect(await sendEvent(shop, event)).toBe(200);
    expect(await sendEvent(shop, { ...event, id: "evt_2" })).toBe(200);
    expect(await shop.balance(accountId)).toBe(usd(25));
  }, 60_000);

  test("a payment of the operator's own page is credited, and one for nobody or in other money is kept for a person", async () => {
    const accountId = await shop.account();
    const pay = (metadata: Record<string, string>, currency = "usd") => {
      const intent = stripe.bank.intend({ amount: 1999, currency, customer: null, metadata });
      stripe.bank.succeed(intent);
      return intent.id;
    };
    pay({ account_id: accountId });
    await hasBalance(shop, accountId, usd(19.99));
    const nobody = [pay({}), pay({ account_id: "018f0000-0000-7000-8000-000000000000" }), pay({ account_id: "x" })];
    const euros = pay({ account_id: accountId }, "eur");
    await eventually("all are answered", () => shop.answers.length === 5);
    expect(shop.answers).toEqual([200, 200, 200, 200, 200]);
    const { paymentEvents: unmatched } = await shop.payments.listPaymentEvents({ unmatched: true });
    expect(unmatched.map(({ reference }) => reference).toSorted()).toEqual(nobody.toSorted());
    const { paymentEvents: all } = await shop.payments.listPaymentEvents({});
    expect(all.find(({ reference }) => reference === euros)).toMatchObject({ outcome: PaymentOutcome.REFUSED });
    expect(await shop.balance(accountId)).toBe(usd(19.99));
  }, 60_000);

  test("Stripe is asked again about an event while it does not answer", async () => {
    const accountId = await shop.account();
    const { url: page } = await open(accountId);
    const { sessions } = stripe.state;
    const kept = new Map(sessions);
    sessions.clear();
    const session = [...kept.values()][0];
    session && stripe.bank.pay(session, false);
    await eventually("an event is put off", () => shop.answers.includes(503));
    for (const [id, one] of kept) {
      sessions.set(id, one);
    }
    await hasBalance(shop, accountId, usd(25));
    expect(page).toContain(stripe.url);
  }, 60_000);

  test("taxes come on top, and are no credit", async () => {
    await shop.stop();
    shop = await openShop(url, stripe, { automatic_tax: true });
    stripe.state.endpoints.clear();
    connectEvents(stripe, shop);
    const accountId = await shop.account();
    await press((await open(accountId, 100)).url, "paid");
    await hasBalance(shop, accountId, usd(100));
    expect([...stripe.state.intents.values()].map(({ amount }) => amount)).toEqual([11_900]);
  }, 60_000);

  test("the price is locked in before paying", async () => {
    const options = await shop.payments.getPaymentOptions({});
    expect(options).toMatchObject({ available: true, autoTopUp: true, minimumPicoUsd: usd(5) });
    const [price] = options.prices;
    expect(price?.model).toBe("plain");
    expect((price?.inputPicoUsdPerMillion ?? 0n) > 0n).toBe(true);
  }, 60_000);
});
