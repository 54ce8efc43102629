import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { PaymentOutcome } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { databases, dialects } from "../money/databases.ts";
import { openShop, type Shop, sendEvent, usd } from "./shop.ts";

// Without a secret key nobody can be asked: a signed event is believed, as it names its account itself.

const newDatabase = databases();

describe.each(dialects)("on %s", (dialect) => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop(await newDatabase(dialect), undefined);
  }, 60_000);
  afterEach(() => shop.stop(), 60_000);

  const paid = (account_id: string, facts: object = {}) => ({
    id: "evt_1",
    type: "payment_intent.succeeded",
    data: { object: { id: "pi_1", amount_received: 1999, currency: "usd", metadata: { account_id }, ...facts } },
  });
  const outcomes = async () => (await shop.payments.listPaymentEvents({})).paymentEvents.map(({ outcome }) => outcome);

  test("a payment is credited once, and noted before it is acknowledged", async () => {
    const accountId = await shop.account();
    for (const _ of [1, 2]) {
      expect(await sendEvent(shop, paid(accountId))).toBe(200);
    }
    expect(await shop.balance(accountId)).toBe(usd(19.99));
    expect(await outcomes()).toEqual([PaymentOutcome.CREDITED]);
  }, 60_000);

  test.each([
    ["an amount over its limit", { amount_received: 100_001 }, 200, PaymentOutcome.REFUSED],
    ["another currency", { currency: "eur" }, 200, PaymentOutcome.REFUSED],
    ["no amount", { amount_received: null }, 200, PaymentOutcome.REFUSED],
    ["half a cent", { amount_received: 0.5 }, 200, PaymentOutcome.REFUSED],
    ["no account", { metadata: {} }, 200, PaymentOutcome.UNMATCHED],
    ["an unknown account", { metadata: { account_id: "nobody" } }, 200, PaymentOutcome.UNMATCHED],
  ])(
    "%s is noted, and not sent again",
    async (_, facts, status, outcome) => {
      const accountId = await shop.account();
      expect(await sendEvent(shop, paid(accountId, facts))).toBe(status);
      expect(await outcomes()).toEqual([outcome]);
      expect(await shop.balance(accountId)).toBe(0n);
    },
    60_000,
  );

  test("what the limit of 24 hours is in the way of is sent again", async () => {
    const accountId = await shop.account();
    await shop.accounts.topUp({ accountId, amountPicoUsd: usd(990), reference: "before" });
    expect(await sendEvent(shop, paid(accountId))).toBe(503);
    expect(await outcomes()).toEqual([PaymentOutcome.POSTPONED]);
  }, 60_000);

  test("credit is not sold", async () => {
    const accountId = await shop.account();
    await expect(shop.payments.createCheckout({ accountId, amountPicoUsd: usd(25), requestId: "one" })).rejects.toThrow(
      "No payment provider",
    );
    expect((await shop.payments.getPaymentOptions({})).available).toBe(false);
  }, 60_000);
});
