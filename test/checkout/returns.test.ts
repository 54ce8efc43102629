import { createClient } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { CheckoutState } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { RefundState } from "#gen/tollgate/payments/v1/refund_payment_pb.js";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import type { StandIn } from "../../simulator/stripe/server.ts";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { reasonOf } from "../support/reason-of.ts";
import {
  connectEvents,
  hasBalance,
  openShop,
  openStripe,
  type PaymentSettings,
  press,
  type Shop,
  usd,
} from "./shop.ts";

// Money that goes back: asked for here, in Stripe's dashboard, or by a bank.

const newDatabase = databases();
describe.each(dialects)("on %s", (dialect) => {
  let url: string;
  let stripe: StandIn;
  let shop: Shop;

  let engine: Simulator;
  beforeAll(async () => {
    engine = await startSimulator({ port: 0, models: [{ id: "plain" }], speed: 0 });
  });
  afterAll(() => engine.close());
  const start = async (settings: PaymentSettings = {}) => {
    stripe.state.endpoints.clear();
    shop = await openShop(url, stripe, settings, engine);
    connectEvents(stripe, shop);
  };
  beforeEach(async () => {
    stripe = await openStripe();
    url = await newDatabase(dialect);
    await start();
  }, 60_000);
  afterEach(async () => {
    expect(await shop.proves()).toEqual([]);
    await shop.stop();
    await stripe.close();
  }, 60_000);

  test("the list of events says how much of a payment has gone back, not how much it was", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const isOfReturn = ({ type }: { readonly type: string }) => type === "charge.refunded";
    for (const [part, gone] of [
      [5, 5],
      [2, 7],
    ] as const) {
      const requestId = `part-${part}`;
      await shop.payments.refundPayment({ accountId, reference, amountPicoUsd: usd(part), requestId });
      await eventually(`${gone} USD have gone back`, async () => {
        const [newest] = (await shop.payments.listPaymentEvents({})).paymentEvents.filter(isOfReturn);
        return newest?.reference === reference && newest.amountPicoUsd === usd(gone);
      });
    }
  }, 60_000);

  test("who changes what of payments is in the audit log", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const { payments } = shop;
    await payments.createPortalSession({ accountId });
    const bounds = { belowPicoUsd: usd(5), amountPicoUsd: usd(10), monthlyPicoUsd: usd(50) };
    await payments.setAutoTopUp({ accountId, ...bounds });
    await payments.refundPayment({ accountId, reference, amountPicoUsd: usd(1), requestId: "back" });
    await shop.accounts.closeAccount({ accountId, requestId: "close" });
    const { auditEvents } = await createClient(AuditService, shop.operator).listAuditEvents({ pageSize: 100 });
    const noted = auditEvents.filter(({ target }) => target === accountId).map(({ method }) => method.split("/")[1]);
    expect(noted).toEqual(
      expect.arrayContaining([
        "CreateCheckout",
        "CreatePortalSession",
        "SetAutoTopUp",
        "RefundPayment",
        "CloseAccount",
      ]),
    );
  });

  let bought = 0;
  /** Buys credit, and returns the payment at the provider. */
  const buy = async (accountId: string, amount = 25): Promise<string> => {
    const before = await shop.balance(accountId);
    const requestId = `buy-${++bought}`;
    const { url: page, checkoutId } = await shop.payments.createCheckout({
      accountId,
      amountPicoUsd: usd(amount),
      requestId,
    });
    await press(page, "paid");
    await hasBalance(shop, accountId, before + usd(amount));
    return eventually("it is credited", async () => {
      const { state, reference } = await shop.payments.getCheckout({ checkoutId });
      return state === CheckoutState.CREDITED ? reference : undefined;
    });
  };
  const refund = async (reference: string, amount = 0, requestId = "refund", accountId = "") =>
    (await shop.payments.refundPayment({ accountId, reference, amountPicoUsd: usd(amount), requestId })).refunds;
  const eventsOf = async (type: string) =>
    (await createClient(EventsService, shop.operator).listEvents({ types: [type] })).events;
  const toldFailures = () =>
    eventually("the operator is told", async () => {
      const events = await eventsOf("refund.failed");
      return events.length > 0 ? events : undefined;
    });
  /** Takes money by a refund outside of Stripe. */
  const takeByHand = (accountId: string, amount: number) =>
    shop.accounts.refund({ accountId, amountPicoUsd: usd(amount), reference: `spent ${accountId}` });

  test("an account that is closed gets back through the provider what it paid there and did not spend", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const spent = await shop.spend(accountId);
    const unspent = usd(25) - spent;
    const { refundedPicoUsd } = await shop.accounts.closeAccount({ accountId, requestId: "close" });
    expect(refundedPicoUsd).toBe(unspent);
    const cents = Number(unspent / usd(0.01));
    const refunds = [...stripe.state.refunds.values()];
    expect(refunds).toMatchObject([{ payment_intent: reference, amount: cents }]);
    expect(await shop.balance(accountId)).toBe(0n);
    const again = await shop.accounts.closeAccount({ accountId, requestId: "close" });
    expect(again.account).toMatchObject({ frozen: true });
    expect(unspent - again.refundedPicoUsd < usd(0.01)).toBe(true); // what went back through Stripe is told again
    expect([...stripe.state.refunds.values()]).toHaveLength(1);
  });

  test("what Stripe does not pay back keeps an account open to its people and the money in it, and closing goes on", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const { key } = await shop.accounts.createKey({ accountId });
    const isKept = async () => (await shop.accounts.getKey({ keyId: key?.id ?? "" })).key?.revokedAt === undefined;
    const close = () => shop.accounts.closeAccount({ accountId, requestId: "close" });
    stripe.events.faults.lose = true;
    const { id } = stripe.bank.refund(reference, undefined); // in the dashboard, of which nobody has told yet
    await expect(close()).rejects.toThrow(
      /^\[unavailable\] 25\.00 USD could not be paid back and are in the account again: /,
    );
    expect(await shop.balance(accountId)).toBe(usd(25));
    expect((await shop.accounts.getAccount({ accountId })).account?.frozen).toBe(true);
    expect(await isKept()).toBe(true);
    stripe.bank.failRefund(id);
    expect((await close()).refundedPicoUsd).toBe(usd(25));
    expect([...stripe.state.refunds.values()].map(({ status }) => status)).toEqual(["failed", "succeeded"]);
    expect(await shop.balance(accountId)).toBe(0n);
    expect(await isKept()).toBe(false);
  }, 60_000);

  test("closing that Stripe does not answer goes on with the refund that it began, by whatever request", async () => {
    const accountId = await shop.account();
    await buy(accountId);
    stripe.events.faults.lose = true;
    Object.assign(stripe.faults, { failing: Number.POSITIVE_INFINITY, path: "/v1/refunds" });
    const close = (requestId: string) => shop.accounts.closeAccount({ accountId, requestId });
    expect(await reasonOf(close("first"))).toBe(Reason.PAYMENT_PROVIDER_FAILED);
    expect(await shop.balance(accountId)).toBe(0n);
    stripe.faults.failing = 0;
    expect((await close("second")).refundedPicoUsd).toBe(usd(25));
    expect([...stripe.state.refunds.values()].map(({ amount }) => amount)).toEqual([2500]);
  }, 60_000);

  test("a refund goes back through Stripe, once however often it is asked for", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const [first] = await refund(reference, 10);
    expect(first).toMatchObject({ reference, amountPicoUsd: usd(10), state: RefundState.DONE });
    expect(await refund(reference, 10)).toEqual([first]);
    expect(await shop.balance(accountId)).toBe(usd(15));
    expect([...stripe.state.refunds.values()].map(({ amount }) => amount)).toEqual([1000]);
    await eventually("Stripe's own event is answered", () => shop.answers.length >= 4);
    expect(await shop.balance(accountId)).toBe(usd(15));
  }, 60_000);

  test("no more goes back than is left of a payment, and than is unspent", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    await buy(accountId, 40);
    expect(await reasonOf(refund(reference, 26, "too-much"))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    await takeByHand(accountId, 60);
    expect(await reasonOf(refund(reference, 25, "spent"))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(await refund(reference)).toMatchObject([{ amountPicoUsd: usd(5) }]);
    expect(await reasonOf(refund(reference, 0, "again"))).toBe(Reason.REFUND_EXCEEDS_BALANCE);
    expect(await reasonOf(refund("pi_nobody", 0, "x"))).toBe(Reason.PAYMENT_NOT_FOUND);
  }, 60_000);

  test("an account's payments go back in the order in which they came", async () => {
    const accountId = await shop.account();
    const references = [await buy(accountId, 10), await buy(accountId, 20)];
    const refunds = await refund("", 15, "both", accountId);
    expect(refunds.map((one) => [one.reference, one.amountPicoUsd])).toEqual([
      [references[0], usd(10)],
      [references[1], usd(5)],
    ]);
  }, 60_000);

  test("two refunds at once take no more than the payment", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    await Promise.allSettled([refund(reference, 20, "one"), refund(reference, 20, "two")]);
    expect([...stripe.state.refunds.values()].map(({ amount }) => amount)).toEqual([2000]);
    expect(await shop.balance(accountId)).toBe(usd(5));
  }, 60_000);

  test("a refund that Stripe refuses is put back, at the same prices", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    stripe.events.faults.lose = true;
    stripe.bank.refund(reference, undefined); // in the dashboard, of which nobody has told yet
    const [failed] = await refund(reference, 10);
    expect(failed).toMatchObject({ state: RefundState.FAILED });
    expect(failed?.problem).toContain("greater than unrefunded");
    expect(await shop.balance(accountId)).toBe(usd(25));
  }, 60_000);

  test("a refund that Stripe refuses since the dashboard was faster leaves no credit for money that went back", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    // Who carries refunds on may ask as well.
    stripe.faults.failing = Number.POSITIVE_INFINITY;
    expect(await reasonOf(refund(reference, 10))).toBe(Reason.PAYMENT_PROVIDER_FAILED);
    stripe.faults.failing = 0;
    stripe.bank.refund(reference, undefined);
    await hasBalance(shop, accountId, 0n);
    expect((await refund(reference, 10))[0]).toMatchObject({ state: RefundState.FAILED });
    expect(await shop.balance(accountId)).toBe(0n);
  }, 60_000);

  test("a refund whose answer is lost is carried on after a restart, and made once", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    // Who carries refunds on may ask before this request, and between its two tries: it must not find what was made.
    Object.assign(stripe.faults, { silent: Number.POSITIVE_INFINITY, path: "/v1/refunds", hides: true });
    stripe.events.faults.lose = true; // an event would tell what the answers did not
    expect(await reasonOf(refund(reference, 10))).toBe(Reason.PAYMENT_PROVIDER_FAILED);
    expect(await shop.balance(accountId)).toBe(usd(15));
    await shop.stop();
    stripe.faults.silent = 0;
    await start();
    await eventually("it is done", async () => (await refund(reference, 10))[0]?.state === RefundState.DONE);
    expect(stripe.state.refunds.size).toBe(1);
    expect(await shop.balance(accountId)).toBe(usd(15));
  }, 60_000);

  test("taxes go back with the credit, to the cent", async () => {
    await shop.stop();
    await start({ automatic_tax: true });
    const reference = await buy(await shop.account(), 10.01);
    for (const requestId of ["a", "b"]) {
      await refund(reference, 3.33, requestId);
    }
    await refund(reference, 0, "rest");
    const amounts = [...stripe.state.refunds.values()].map(({ amount }) => amount);
    expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(stripe.state.intents.get(reference)?.amount);
  }, 60_000);

  test("a refund in the dashboard takes the money out, into debt where it is spent", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    stripe.bank.refund(reference, 1000);
    await hasBalance(shop, accountId, usd(15));
    const spent = await shop.spend(accountId);
    stripe.bank.refund(reference, undefined);
    await hasBalance(shop, accountId, -spent);
    expect((await shop.accounts.getAccount({ accountId })).account?.frozen).toBe(false);
  }, 60_000);

  test("a refund that fails at the bank after all comes back, and the operator is told once", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    await refund(reference, 10);
    stripe.events.faults.times = 2;
    stripe.bank.failRefund([...stripe.state.refunds.keys()][0] ?? "");
    await hasBalance(shop, accountId, usd(25));
    expect(await toldFailures()).toMatchObject([{ data: { amount_usd: "10.00", reference } }]);
  }, 60_000);

  test("a refund that fails at the bank after its account was closed is told to the operator", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    await shop.accounts.closeAccount({ accountId, requestId: "close" });
    stripe.bank.failRefund([...stripe.state.refunds.keys()][0] ?? "");
    await hasBalance(shop, accountId, usd(25));
    expect(await toldFailures()).toMatchObject([{ accountId, data: { amount_usd: "25.00", reference } }]);
  }, 60_000);

  test("a checkout that is paid after its account was closed is told as refused, is in no balance, and goes back at Stripe", async () => {
    const accountId = await shop.account();
    const { url: page, checkoutId } = await shop.payments.createCheckout({
      ...{ accountId, amountPicoUsd: usd(25), requestId: "late" },
    });
    await shop.accounts.closeAccount({ accountId, requestId: "close" });
    await press(page, "paid");
    const events = async () => (await shop.payments.listPaymentEvents({})).paymentEvents;
    const told = await eventually("both events are told", async () => {
      const found = await events();
      return found.length === 2 ? found : undefined;
    });
    const refused = { accountId, outcome: PaymentOutcome.REFUSED, detail: expect.stringContaining("was closed") };
    expect(told).toMatchObject([refused, refused]);
    const problem = expect.stringContaining("was closed");
    expect(await shop.payments.getCheckout({ checkoutId })).toMatchObject({ state: CheckoutState.PAID, problem });
    stripe.bank.refund([...stripe.state.intents.keys()][0] ?? "", undefined);
    await eventually("the refund is told", async () => (await events()).length > 2);
    expect(await shop.balance(accountId)).toBe(0n);
  }, 60_000);

  test("a dispute takes the money out, freezes the account once and tells the operator; won, it comes back", async () => {
    const accountId = await shop.account();
    const reference = await buy(accountId);
    const spent = await shop.spend(accountId);
    stripe.events.faults.times = 2;
    const { id } = stripe.bank.dispute(reference);
    expect(spent > 0n).toBe(true);
    await hasBalance(shop, accountId, -spent);
    expect((await shop.accounts.getAccount({ accountId })).account?.frozen).toBe(true);
    const told = async () => (await eventsOf("payment.disputed")).length;
    await eventually("the operator is told", async () => (await told()) > 0);
    await shop.accounts.unfreezeAccount({ accountId });
    stripe.bank.decide(id, "won");
    await hasBalance(shop, accountId, usd(25) - spent);
    expect(await told()).toBe(1);
    expect((await shop.accounts.getAccount({ accountId })).account?.frozen).toBe(false);
  }, 60_000);

  test("a dispute that is told before its payment credits first, and takes out then", async () => {
    const accountId = await shop.account();
    stripe.events.faults.hold = true;
    const { url: page } = await shop.payments.createCheckout({ accountId, amountPicoUsd: usd(25), requestId: "x" });
    await press(page, "paid");
    stripe.bank.dispute([...stripe.state.intents.keys()][0] ?? "");
    stripe.events.release("reversed");
    await eventually("all are answered", () => shop.answers.length >= 3);
    await hasBalance(shop, accountId, 0n);
    expect((await shop.accounts.getAccount({ accountId })).account?.paidTotalPicoUsd).toBe(0n);
  }, 60_000);

  test("invoices and the portal are Stripe's", async () => {
    const accountId = await shop.account();
    expect((await shop.payments.listInvoices({ accountId })).invoices).toEqual([]);
    await buy(accountId);
    const { invoices } = await shop.payments.listInvoices({ accountId });
    expect(invoices).toMatchObject([{ number: "SIM-0001", totalPicoUsd: usd(25), status: "paid" }]);
    const portal = await shop.payments.createPortalSession({ accountId, returnUrl: "http://127.0.0.1:1/accounts" });
    expect(await (await fetch(portal.url)).text()).toContain("No money moves");
  }, 60_000);
});
