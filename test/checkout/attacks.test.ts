import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { CheckoutState } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import type { StandIn } from "../../simulator/stripe/server.ts";
import type { Session } from "../../simulator/stripe/state.ts";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { reasonOf } from "../support/reason-of.ts";
import { connectEvents, hasBalance, openShop, openStripe, press, type Shop, usd } from "./shop.ts";

// Payments that try to get more out than was put in: two things at once, and sessions that change after they were opened.

const newDatabase = databases();
/** An answer that is begun, and never goes on. */
const stall = "[[sim:stall=20]] [[sim:tokens=100]]";

describe.each(dialects)("on %s", (dialect) => {
  let engine: Simulator;
  let stripe: StandIn;
  let shop: Shop;
  beforeAll(async () => {
    engine = await startSimulator({ port: 0, models: [{ id: "plain" }], speed: 0 });
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    stripe = await openStripe();
    shop = await openShop(await newDatabase(dialect), stripe, {}, engine);
    connectEvents(stripe, shop);
  }, 60_000);
  afterEach(async () => {
    expect(await shop.proves()).toEqual([]);
    await shop.stop();
    await stripe.close();
  }, 60_000);

  const open = (accountId: string, requestId = "one") =>
    shop.payments.createCheckout({ accountId, amountPicoUsd: usd(25), requestId });
  /** Buys 25 USD, and returns the payment at the provider. */
  const buy = async (accountId: string): Promise<string> => {
    const { url, checkoutId } = await open(accountId);
    await press(url, "paid");
    return eventually("it is credited", async () => {
      const { state, reference } = await shop.payments.getCheckout({ checkoutId });
      return state === CheckoutState.CREDITED ? reference : undefined;
    });
  };
  /** Begins an answer, and returns what ends it by hanging up, once it is paid. */
  const begin = async (accountId: string): Promise<() => Promise<void>> => {
    const hangUp = new AbortController();
    const answer = (await shop.ask(accountId, stall, hangUp.signal))[Symbol.asyncIterator]();
    await answer.next();
    return async () => {
      hangUp.abort();
      await answer.next().catch(() => undefined);
      await eventually("nothing is held", async () => (await find(accountId)).heldPicoUsd === 0n);
    };
  };
  const find = async (accountId: string) => {
    const { account } = await shop.accounts.getAccount({ accountId });
    if (account === undefined) {
      throw new Error("there is no account");
    }
    return account;
  };
  const refundAll = (accountId: string, requestId: string) =>
    shop.payments.refundPayment({ accountId, reference: "", amountPicoUsd: 0n, requestId });
  const paidBack = () => [...stripe.state.refunds.values()].reduce((sum, { amount }) => sum + usd(amount / 100), 0n);

  test("what a running answer holds does not go back, and pays for it", async () => {
    const accountId = await shop.account();
    await buy(accountId);
    const end = await begin(accountId);
    const held = (await find(accountId)).heldPicoUsd;
    expect(held > 0n).toBe(true);
    await refundAll(accountId, "while-it-runs");
    expect(usd(25) - paidBack() >= held).toBe(true);
    expect(await shop.balance(accountId)).toBe(usd(25) - paidBack());
    await end();
    const { balancePicoUsd, debtPicoUsd } = await find(accountId);
    expect(debtPicoUsd).toBe(0n);
    expect(balancePicoUsd < usd(25) - paidBack()).toBe(true);
  }, 60_000);

  test("what a running answer held goes back through Stripe, too, once closing is asked for again", async () => {
    const accountId = await shop.account();
    await buy(accountId);
    const end = await begin(accountId);
    const close = () => shop.accounts.closeAccount({ accountId, requestId: "close" });
    expect(await reasonOf(close())).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    await end();
    await eventually("nothing is held", async () => (await find(accountId)).heldPicoUsd === 0n);
    const left = await shop.balance(accountId);
    const before = paidBack();
    expect((await close()).refundedPicoUsd).toBe(before + left);
    expect(left - (paidBack() - before) < usd(0.01)).toBe(true); // parts of a cent cannot go back
    expect(await shop.balance(accountId)).toBe(0n);
  }, 60_000);

  test("refunds and answers at once give out no more than came in", async () => {
    const accountId = await shop.account();
    await buy(accountId);
    const read = async () => {
      for await (const _ of await shop.ask(accountId, "Hello")) {
        // read to its end
      }
    };
    await Promise.allSettled([1, 2, 3, 4].flatMap((at) => [read(), refundAll(accountId, `refund-${at}`)]));
    await eventually("nothing is held", async () => (await find(accountId)).heldPicoUsd === 0n);
    const { balancePicoUsd, debtPicoUsd, paidTotalPicoUsd } = await find(accountId);
    expect(debtPicoUsd).toBe(0n);
    expect(paidTotalPicoUsd).toBe(usd(25) - paidBack());
    expect(balancePicoUsd <= usd(25) - paidBack()).toBe(true);
  }, 60_000);

  test("a dispute while an answer runs takes all of it back; the answer is debt, and no other one begins", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const end = await begin(accountId);
    stripe.bank.dispute(reference);
    await eventually("it is frozen", async () => (await find(accountId)).frozen);
    const refusal = await begin(accountId).catch((error: unknown) => readDetail(error)?.reason);
    expect(refusal).toBe(Reason.ACCOUNT_FROZEN);
    await end();
    // What was held for the answer and not used pays some of the debt, once its core has given it back.
    const { debtPicoUsd } = await eventually("the money is out", async () => {
      const found = await find(accountId);
      return found.paidTotalPicoUsd === 0n && found.balancePicoUsd === 0n ? found : undefined;
    });
    expect([debtPicoUsd > 0n, debtPicoUsd < usd(1)]).toEqual([true, true]);
  }, 60_000);

  test("a session that is paid in two windows at once is paid and credited once", async () => {
    const accountId = await shop.account();
    const { url } = await open(accountId);
    await Promise.all([press(url, "paid"), press(url, "paid")]);
    await hasBalance(shop, accountId, usd(25));
    expect(stripe.state.intents.size).toBe(1);
  }, 60_000);

  test("a second payment of one order is credited under its own name, once", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const first = stripe.state.intents.get(reference);
    stripe.events.faults.times = 2;
    stripe.bank.succeed(
      stripe.bank.intend({ amount: 2500, currency: "usd", customer: null, metadata: first?.metadata ?? {} }),
    );
    await hasBalance(shop, accountId, usd(50));
    await eventually("all are answered", () => shop.answers.length >= 4);
    expect(await shop.balance(accountId)).toBe(usd(50));
  }, 60_000);

  test.each<[string, Partial<Session>, number, PaymentOutcome]>([
    ["less is paid", { amount_subtotal: 1000, amount_total: 1000 }, 10, PaymentOutcome.CREDITED],
    ["more is paid", { amount_subtotal: 5000, amount_total: 5000 }, 50, PaymentOutcome.CREDITED],
    ["euros are paid", { currency: "eur" }, 0, PaymentOutcome.REFUSED],
    ["nothing is paid", { amount_subtotal: 0, amount_total: 0 }, 0, PaymentOutcome.REFUSED],
    ["half a cent is paid", { amount_subtotal: 0.5, amount_total: 0.5 }, 0, PaymentOutcome.REFUSED],
  ])(
    "what is credited is what is paid: of a session that was changed %s",
    async (_, change, credit, outcome) => {
      const accountId = await shop.account();
      const { url, checkoutId } = await open(accountId);
      const [session] = stripe.state.sessions.values();
      Object.assign(session ?? {}, change);
      await press(url, "paid");
      const list = async () => (await shop.payments.listPaymentEvents({})).paymentEvents;
      const noted = await eventually("it is noted", async () => (await list())[0]);
      expect(noted.outcome).toBe(outcome);
      expect(await shop.balance(accountId)).toBe(usd(credit));
      const { state } = await shop.payments.getCheckout({ checkoutId });
      expect(state).toBe(credit === 0 ? CheckoutState.PAID : CheckoutState.CREDITED);
    },
    60_000,
  );
});
