import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemClock } from "#lib/time/clock.ts";
import { loadStripe } from "#src/checkout/stripe/client.ts";
import { createStripe } from "#src/checkout/stripe/stripe.ts";

// What the product asks of Stripe is asked of Stripe itself, in its test mode, where STRIPE_TEST_KEY has a key: no money moves.

const secretKey = process.env.STRIPE_TEST_KEY;
const apiUrl = "https://api.stripe.com";
const amount = 25_000_000_000_000;
const mostMs = 120_000;

/** Whether a key can move no money. */
const isHarmless = (key: string) => /^(sk|rk)_test_/.test(key);

test("no key that moves money is ever used", () => {
  expect([isHarmless("sk_live_x"), isHarmless("rk_live_x"), isHarmless("sk_test_x")]).toEqual([false, false, true]);
  expect(secretKey === undefined || isHarmless(secretKey)).toBe(true);
});

const mayCharge = async () => true;

if (secretKey !== undefined && isHarmless(secretKey)) {
  const open = () =>
    createStripe({ secretKey, apiUrl, automaticTax: false, invoices: true, webhookSecret: undefined }, systemClock);

  /** A customer with one of Stripe's cards for tests. */
  const customerWith = async (card: string) => {
    const accountId = v7();
    const customer = await (await open()).checkout.customer(accountId);
    await (await loadStripe({ secretKey, apiUrl })).paymentMethods.attach(card, { customer });
    return { accountId, customer };
  };

  test(
    "Stripe opens a session once, and tells that nobody has paid it",
    async () => {
      const { checkout } = await open();
      const accountId = v7();
      const customer = await checkout.customer(accountId);
      const urls = { successUrl: "https://example.com/?checkout=1", cancelUrl: "https://example.com/?canceled=1" };
      const order = { id: v7(), accountId, customer, amount, ...urls };
      const opened = await checkout.open(order);
      expect(await checkout.open(order)).toEqual(opened);
      expect(opened.url).toMatch(/^https:\/\/checkout\.stripe\.com\//);
      expect(await checkout.read(opened.session)).toMatchObject({ state: "open", order: order.id, accountId });
    },
    mostMs,
  );

  test(
    "Stripe charges a saved card once, and pays it back once",
    async () => {
      const { charge, refund } = await open();
      const order = { id: v7(), amount, ...(await customerWith("pm_card_visa")) };
      const made = await charge.make(order, mayCharge);
      expect(await charge.make(order, mayCharge)).toEqual(made);
      const { reference } = made as { readonly reference: string };
      const paid = { state: "paid", reference, order: order.id, currency: "usd", credit: amount, charged: amount };
      expect(await charge.read(reference)).toMatchObject(paid);
      const back = { id: v7(), accountId: order.accountId, reference, amount };
      const returned = await refund.make(back);
      expect(await refund.make(back)).toEqual(returned);
      expect(await refund.list(reference)).toEqual([returned]);
      await expect(refund.make({ ...back, id: v7() })).rejects.toThrow("refunded");
    },
    mostMs,
  );

  test(
    "a card that Stripe declines is not charged",
    async () => {
      const { charge } = await open();
      const order = { id: v7(), amount, ...(await customerWith("pm_card_chargeCustomerFail")) };
      expect(await charge.make(order, mayCharge)).toEqual({ declined: expect.stringMatching(/declined/) });
    },
    mostMs,
  );
}
