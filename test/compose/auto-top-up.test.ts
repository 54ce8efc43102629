import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stripePath } from "#src/checkout/webhook.ts";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { type StandIn, startStripe } from "../../simulator/stripe/server.ts";
import { press } from "../checkout/shop.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// Two whole processes on one database, and a stand-in for Stripe, whose events about charges never come.

const webhookSecret = "whsec_of_two_cores";
const operatorToken = "operator-token-of-a-test-0123456789";
let postgresql: DatabaseServer;
let stripe: StandIn;
let sites: readonly Site[] = [];
let cores: readonly Tollgate[] = [];

beforeAll(async () => {
  [postgresql, stripe] = await Promise.all([useServer(), startStripe({ host: "127.0.0.1", port: 0 })]);
  const shared = {
    TOLLGATE_STORAGE_URL: await postgresql.createDatabase(),
    TOLLGATE_OPERATOR_TOKEN: operatorToken,
    TOLLGATE_KEY_PEPPER: "pepper-of-a-test-0123456789-0123456789",
    STRIPE_KEY: "sk_test_two_cores",
    TOLLGATE_STRIPE_WEBHOOK_SECRET: webhookSecret,
  };
  sites = await Promise.all([createSite(shared), createSite(shared)]);
  cores = await start();
  const head = stripe.state.head("we", "webhook_endpoint" as const);
  const url = `http://${cores[0]?.addresses.webhooks}${stripePath}`;
  const facts = { url, secret: webhookSecret, status: "enabled", metadata: {}, enabled_events: ["*"] };
  stripe.state.endpoints.set(head.id, { ...head, ...facts });
}, 180_000);
afterAll(async () => {
  await Promise.all(cores.map((core) => core.stop()));
  await Promise.all(sites.map((site) => site.remove()));
  await Promise.all([stripe?.close(), postgresql?.stop()]);
}, 60_000);

function start(): Promise<Tollgate[]> {
  const payments = { stripe: { secret_key_env: "STRIPE_KEY", api_url: stripe.url } };
  return Promise.all(
    sites.map(async (site) =>
      startTollgate(
        site,
        "serve",
        "--config",
        await site.configure({ ...freePorts, free_tier: { grant_usd: "0" }, payments }),
      ),
    ),
  );
}

async function admin<T>(...args: string[]): Promise<T> {
  return (await cores[0]?.admin(...args)) as T;
}

/** An account with 25 USD and a saved card, which is charged 20 USD below 5 USD. */
async function openCustomer(): Promise<string> {
  const { id } = await admin<{ id: string }>("accounts", "create");
  const checkout = `http://${cores[0]?.addresses.connect}/tollgate.payments.v1.PaymentsService/CreateCheckout`;
  const response = await fetch(checkout, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ accountId: id, amountPicoUsd: String(25n * 10n ** 12n), requestId: id }),
  });
  const { url } = (await response.json()) as { url: string };
  stripe.events.faults.lose = false;
  await press(url, "paid", true);
  await eventually("the credit is there", async () => (await paid(id)) === "25.00");
  stripe.events.faults.lose = true;
  await admin("accounts", "auto-top-up", id, "--below", "5", "--usd", "20", "--a-month", "100");
  return id;
}

const cross = (id: string) => admin("accounts", "refund", id, "--usd", "21", "--ref", `spent ${id}`);
const paid = async (id: string) => (await admin<{ paid_total_usd: string }>("accounts", "show", id)).paid_total_usd;
/** What was paid for an account beside the checkout, in cents. */
const charges = (id: string) =>
  [...stripe.state.intents.values()]
    .filter(({ metadata }) => metadata.account_id === id)
    .map(({ amount }) => amount)
    .slice(1);

test("two processes charge a card once at one crossing", async () => {
  const id = await openCustomer();
  await cross(id);
  await eventually("the card is charged and credited", async () => (await paid(id)) === "24.00");
  const other = await openCustomer();
  await cross(other);
  await eventually("both have looked again", async () => (await paid(other)) === "24.00");
  expect(charges(id)).toEqual([2000]);
}, 120_000);

test("killed in the middle of a charge, both carry it on at once, and charge once", async () => {
  const id = await openCustomer();
  Object.assign(stripe.faults, { silent: Number.POSITIVE_INFINITY, path: "/v1/payment_intents" });
  await cross(id);
  await eventually("the card is charged", () => charges(id).length > 0);
  await Promise.all(cores.map((core) => core.stop("SIGKILL")));
  stripe.faults.silent = 0;
  cores = await start();
  await eventually("it is credited", async () => (await paid(id)) === "24.00");
  expect(charges(id)).toEqual([2000]);
}, 120_000);
