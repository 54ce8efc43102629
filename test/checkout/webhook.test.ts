import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import Stripe from "stripe";
import { Door } from "#lib/door/door.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Judged } from "#src/checkout/events.ts";
import type { ProviderEvent } from "#src/checkout/provider.ts";
import { createEventReader } from "#src/checkout/stripe/stripe.ts";
import { createStripeWebhook } from "#src/checkout/webhook.ts";

// Events as Stripe sends them, signed by its own library, over real HTTP.

const secret = "whsec_of_the_test";
const alarms: object[] = [];
const warnings: string[] = [];
const logger = {
  debug() {},
  info() {},
  warn: (_: object, message: string) => void warnings.push(message),
  error: (facts: object) => void alarms.push(facts),
};
let seen: ProviderEvent[] = [];
let outcomes: string[] = [];
let judged: Judged | Error;
let server: Server;

beforeAll(async () => {
  const handle = async (event: ProviderEvent) => {
    seen.push(event);
    if (judged instanceof Error) {
      throw judged;
    }
    return judged;
  };
  server = createServer(
    createStripeWebhook({
      readEvent: createEventReader(secret, systemClock),
      events: { handle },
      observe: (outcome) => void outcomes.push(outcome),
      logger,
    })(new Door({ listener: "payments" })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  seen = [];
  outcomes = [];
  alarms.length = 0;
  warnings.length = 0;
  judged = { outcome: "credited", detail: "", namesAccount: true };
});
afterAll(() => void server.close());

const send = (event: object, signedWith = secret, at?: number) =>
  sendText(JSON.stringify({ id: "evt_1", object: "event", ...event }), signedWith, at);

async function sendText(body: string, signedWith = secret, at?: number): Promise<number> {
  const timestamp = at === undefined ? {} : { timestamp: at };
  const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: signedWith, ...timestamp });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const response = await fetch(url, { method: "POST", body, headers: { "stripe-signature": signature } });
  await response.text();
  return response.status;
}

const metadata = { account_id: "a" };
const intent = (facts: object = {}) => ({
  type: "payment_intent.succeeded",
  data: { object: { id: "pi_1", amount_received: 1999, currency: "usd", metadata, ...facts } },
});
const session = (facts: object = {}) => ({
  type: "checkout.session.completed",
  data: {
    object: {
      id: "cs_1",
      payment_intent: "pi_1",
      payment_status: "paid",
      amount_total: 1999,
      currency: "usd",
      metadata,
      ...facts,
    },
  },
});

test.each([
  ["a payment", intent(), { payment: "pi_1" }],
  ["a session", session(), { session: "cs_1" }],
  ["a session with its payment inside", session({ payment_intent: { id: "pi_1" } }), { session: "cs_1" }],
])("%s claims an amount to the last pico-dollar, under the payment's id", async (_, event, about) => {
  expect(await send(event)).toBe(200);
  const claim = { accountId: "a", credit: 19_990_000_000_000, reference: "pi_1", state: "paid", currency: "usd" };
  expect(seen).toMatchObject([{ id: "evt_1", about, claim }]);
  expect(outcomes).toEqual(["credited"]);
});

test("taxes of a session are no credit", async () => {
  await send(session({ amount_subtotal: 1500 }));
  expect(seen).toMatchObject([{ claim: { credit: 15_000_000_000_000, charged: 19_990_000_000_000 } }]);
});

test.each([
  [
    "a refund",
    { type: "charge.refunded", data: { object: { id: "ch_1", payment_intent: "pi_1" } } },
    { payment: "pi_1" },
  ],
  ["a dispute", { type: "charge.dispute.created", data: { object: { payment_intent: "pi_1" } } }, { payment: "pi_1" }],
  ["a session that is not paid yet", session({ payment_status: "unpaid" }), { session: "cs_1" }],
  ["another type", { type: "customer.created", data: { object: {} } }, undefined],
  ["no data", { type: "payment_intent.succeeded", data: undefined }, undefined],
  ["data of another kind", { type: "checkout.session.completed", data: { object: null } }, undefined],
])("%s claims nothing", async (_, event, about) => {
  expect(await send(event)).toBe(200);
  expect(seen).toMatchObject([{ claim: undefined }]);
  expect(seen[0]?.about).toEqual(about);
});

test.each([
  ["credited", true, 200, "credited", 0],
  ["withdrawn", true, 200, "withdrawn", 0],
  ["ignored", true, 200, "ignored", 0],
  ["unmatched", false, 200, "ignored", 0],
  ["unmatched", true, 200, "refused", 1],
  ["refused", true, 200, "refused", 1],
  ["postponed", true, 503, "postponed", 0],
] as const)(
  "what is %s (names an account: %s) is answered with %i",
  async (outcome, namesAccount, status, counted, alarmed) => {
    judged = { outcome, detail: "", namesAccount };
    expect(await send(intent())).toBe(status);
    expect(outcomes).toEqual([counted]);
    expect(alarms).toHaveLength(alarmed);
  },
);

test("an event that could not be noted is sent again", async () => {
  judged = new Error("the database is away");
  expect(await send(intent())).toBe(503);
  expect(outcomes).toEqual(["postponed"]);
});

const ofType = (type: unknown, object: unknown) => JSON.stringify({ id: "evt_1", type, data: { object } });

test.each([
  ["no JSON", "{"],
  ["nothing", "null"],
  ["a number", "1"],
  ["a text", '"event"'],
  ["a list", "[1]"],
  ["an event without fields", "{}"],
  ["an id that is none", '{"id":{"a":1},"type":"charge.refunded","data":{"object":{}}}'],
  ["a type that is none", ofType(["charge.refunded"], {})],
  ["an object that is none", ofType("charge.refunded", "ch_1")],
  ["a session without an id", ofType("checkout.session.completed", { payment_status: "paid", metadata: null })],
  ["a payment whose id is none", ofType("payment_intent.succeeded", { id: { $ne: null } })],
])("%s that is signed moves no money, is answered for good and told in the log", async (_, body) => {
  judged = { outcome: "ignored", detail: "", namesAccount: false };
  expect(await sendText(body)).toBe(200);
  expect(seen).toMatchObject([{ about: undefined, claim: undefined, ignored: "its shape is not known here" }]);
  expect(warnings).toEqual(["a signed payment event has a shape that is not known here"]);
});

test("fields of another type in a payment count as absent", async () => {
  const odd = { metadata: { account_id: { $ne: null } }, currency: 7, amount_received: "1999" };
  expect(await send(intent(odd))).toBe(200);
  expect(await send(session({ payment_intent: { id: 5 }, metadata: [], amount_total: {} }))).toBe(200);
  expect(seen).toMatchObject([
    { claim: { accountId: undefined, currency: "", credit: undefined } },
    { claim: { accountId: undefined, reference: "cs_1", credit: undefined } },
  ]);
  expect(await send({ type: "charge.refunded", data: { object: { payment_intent: [1] } } })).toBe(200);
  expect(seen.at(-1)?.about).toBeUndefined();
});

test("a wrong or an old signature, a GET and a huge body are refused", async () => {
  expect(await send(intent(), "whsec_of_somebody_else")).toBe(400);
  expect(await send(intent(), secret, 1)).toBe(400);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(400);
  expect(outcomes).toEqual(["unsigned", "unsigned", "unsigned"]);
  expect(await send({ ...intent(), filler: "x".repeat(1_100_000) }).catch(() => 413)).toBe(413);
  expect(seen).toEqual([]);
});
