import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import Stripe from "stripe";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Door } from "#lib/door/door.ts";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Payment } from "#src/money/payments/stripe-payment.ts";
import { createStripeWebhook } from "#src/money/payments/stripe-webhook.ts";

// Events as Stripe sends them, signed by its own library, over real HTTP.

const secret = "whsec_of_the_test";
const alarms: object[] = [];
const logger = { debug() {}, info() {}, warn() {}, error: (facts: object) => void alarms.push(facts) };
let payments: Payment[] = [];
let outcomes: string[] = [];
let refusal: Error | undefined;
let server: Server;

beforeAll(async () => {
  const topUp = async (payment: Payment) => {
    if (refusal) {
      throw refusal;
    }
    payments.push(payment);
  };
  server = createServer(
    createStripeWebhook({
      secret,
      topUp,
      observe: (outcome) => void outcomes.push(outcome),
      clock: systemClock,
      logger,
    })(new Door({ listener: "payments" })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  payments = [];
  outcomes = [];
  alarms.length = 0;
  refusal = undefined;
});
afterAll(() => void server.close());

async function send(event: object, signedWith = secret, at?: number): Promise<number> {
  const body = JSON.stringify({ id: "evt_1", object: "event", ...event });
  const timestamp = at === undefined ? {} : { timestamp: at };
  const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: signedWith, ...timestamp });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const response = await fetch(url, { method: "POST", body, headers: { "stripe-signature": signature } });
  await response.text();
  return response.status;
}

const intent = (facts: object = {}) => ({
  type: "payment_intent.succeeded",
  data: { object: { id: "pi_1", amount_received: 1999, currency: "usd", metadata: { account_id: "a" }, ...facts } },
});
const session = (facts: object = {}) => ({
  type: "checkout.session.completed",
  data: {
    object: {
      ...{ id: "cs_1", payment_intent: "pi_1", payment_status: "paid", amount_total: 1999, currency: "usd" },
      ...{ metadata: { account_id: "a" }, ...facts },
    },
  },
});

test.each([
  ["a payment", intent()],
  ["a session", session()],
  ["a session with its payment inside", session({ payment_intent: { id: "pi_1" } })],
])("%s is credited to the last pico-dollar, under the payment's id", async (_, event) => {
  expect(await send(event)).toBe(200);
  expect(payments).toEqual([{ accountId: "a", amountPicoUsd: 19_990_000_000_000n, reference: "pi_1" }]);
  expect(outcomes).toEqual(["credited"]);
});

test.each([
  ["another type", { type: "charge.refunded", data: { object: {} } }, 0],
  ["a payment without an account", intent({ metadata: {} }), 0],
  ["a session that is not paid yet", session({ payment_status: "unpaid" }), 0],
  ["another currency", intent({ currency: "eur" }), 1],
  ["no amount", session({ amount_total: null }), 1],
])("%s moves nothing and is not sent again", async (_, event, alarmed) => {
  expect(await send(event)).toBe(200);
  expect(payments).toEqual([]);
  expect(alarms).toHaveLength(alarmed);
  expect(outcomes).toEqual([alarmed === 1 ? "refused" : "ignored"]);
});

test.each([
  ["no data", { type: "payment_intent.succeeded", data: undefined }],
  ["data of another kind", { type: "checkout.session.completed", data: { object: null } }],
  ["an empty object", { type: "payment_intent.succeeded", data: { object: {} } }],
])("a signed event with %s is answered, and moves nothing", async (_, event) => {
  expect(await send(event)).toBe(200);
  expect(payments).toEqual([]);
  expect(outcomes).toHaveLength(1);
});

test.each([
  ["a limit", failure(Reason.PAYMENT_ABOVE_MAXIMUM, "too much"), 200, 1],
  ["an unknown account", failure(Reason.ACCOUNT_NOT_FOUND, "nobody"), 200, 1],
  ["the limit on a day", failure(Reason.PAYMENT_24H_LIMIT, "too much today"), 503, 0],
  ["a ledger that is away", failure(Reason.LEDGER_UNAVAILABLE, "away"), 503, 0],
  ["a bug", new Error("bug"), 503, 0],
])("%s is answered so that Stripe tries again only when that helps", async (_, error, status, alarmed) => {
  refusal = error;
  expect(await send(intent())).toBe(status);
  expect(alarms).toHaveLength(alarmed);
  expect(outcomes).toEqual([alarmed === 1 ? "refused" : "postponed"]);
});

test("a wrong or an old signature, a GET and a huge body are refused", async () => {
  expect(await send(intent(), "whsec_of_somebody_else")).toBe(400);
  expect(await send(intent(), secret, 1)).toBe(400);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(400);
  expect(outcomes).toEqual(["unsigned", "unsigned", "unsigned"]);
  expect(await send({ ...intent(), filler: "x".repeat(1_100_000) }).catch(() => 413)).toBe(413);
  expect(payments).toEqual([]);
});
