import { createClient } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "@jest/globals";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { CheckoutState } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import type { StandIn } from "../../simulator/stripe/server.ts";
import { eventually } from "../support/eventually.ts";
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

/** A shop and Stripe's stand-in, new for each test of a file; the books are proved after each. */
export function useTill(newDatabase: () => Promise<string>) {
  let url: string;
  let stripe: StandIn;
  let shop: Shop;
  let engine: Simulator;
  let bought = 0;

  /** Starts the shop, on what an earlier one has left. */
  const start = async (settings: PaymentSettings = {}) => {
    stripe.state.endpoints.clear();
    shop = await openShop(url, stripe, settings, engine);
    connectEvents(stripe, shop);
  };
  beforeAll(async () => {
    engine = await startSimulator({ port: 0, models: [{ id: "plain" }], speed: 0 });
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    stripe = await openStripe();
    url = await newDatabase();
    await start();
  }, 60_000);
  afterEach(async () => {
    expect(await shop.proves()).toEqual([]);
    await shop.stop();
    await stripe.close();
  }, 60_000);

  const eventsOf = async (type: string) =>
    (await createClient(EventsService, shop.operator).listEvents({ types: [type] })).events;
  return {
    get shop() {
      return shop;
    },
    get stripe() {
      return stripe;
    },
    start,
    /** Buys credit, and returns the payment at the provider. */
    async buy(accountId: string, amount = 25): Promise<string> {
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
    },
    refund: async (reference: string, amount = 0, requestId = "refund", accountId = "") =>
      (await shop.payments.refundPayment({ accountId, reference, amountPicoUsd: usd(amount), requestId })).refunds,
    eventsOf,
    toldFailures: () =>
      eventually("the operator is told", async () => {
        const events = await eventsOf("refund.failed");
        return events.length > 0 ? events : undefined;
      }),
    /** Takes money by a refund outside of Stripe. */
    takeByHand: (accountId: string, amount: number) =>
      shop.accounts.refund({ accountId, amountPicoUsd: usd(amount), reference: `spent ${accountId}` }),
  };
}
