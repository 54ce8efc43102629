import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import type { Provider } from "#src/checkout/provider.ts";
import { createStripe } from "#src/checkout/stripe/stripe.ts";
import { type StandIn, startStripe } from "../../../simulator/stripe/server.ts";
import { eventually } from "../../support/eventually.ts";

// Every request that the product makes of Stripe is made of the stand-in, and then of stripe-mock, which Stripe publishes and
// which answers 400 to an unknown or a wrong parameter. `npm run test:stripe` names its program.

const program = process.env.STRIPE_MOCK;
let stripe: StandIn;
let provider: Provider;

beforeAll(async () => {
  stripe = await startStripe({ host: "127.0.0.1", port: 0 });
  provider = await openProvider(stripe.url);
});
afterAll(() => stripe.close());

function openProvider(apiUrl: string): Promise<Provider> {
  const access = { secretKey: "sk_test_123", apiUrl, automaticTax: true, invoices: true, webhookSecret: undefined };
  return createStripe(access, systemClock);
}

/** Does all that the product ever does. */
async function doAll(): Promise<void> {
  const accountId = "018f0000-0000-7000-8000-000000000000";
  const amount = 25_000_000_000_000;
  const customer = await provider.checkout.customer(accountId);
  const urls = { successUrl: "https://example.com/?checkout=1", cancelUrl: "https://example.com/?canceled=1" };
  const { session } = await provider.checkout.open({ id: "one", accountId, customer, amount, ...urls });
  const found = stripe.state.sessions.get(session);
  if (found === undefined) {
    throw new Error("no session");
  }
  stripe.bank.pay(found, true);
  const { reference = "" } = await provider.checkout.read(session);
  await provider.charge.make({ id: "two", accountId, customer, amount }, async () => true);
  await provider.charge.read(reference);
  await provider.refund.make({ id: "three", accountId, reference, amount });
  await provider.refund.list(reference);
  await provider.portal.open(customer, "https://example.com/");
  await provider.portal.invoices(customer);
}

test("the stand-in has everything that the product asks for", async () => {
  await doAll();
  expect(stripe.state.refunds.size).toBe(1);
  expect([...stripe.state.intents.values()].map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
});

if (program !== undefined) {
  test("stripe-mock accepts each of these requests", async () => {
    const port = await freePort();
    const mock = spawn(program, ["-http-addr", `127.0.0.1:${port}`], { stdio: "ignore" });
    try {
      const url = `http://127.0.0.1:${port}`;
      await eventually("it listens", () =>
        fetch(url)
          .then(() => true)
          .catch(() => false),
      );
      const seen = new Set<string>();
      for (const { method, path, body } of stripe.requests) {
        const headers = { authorization: "Bearer sk_test_123", "content-type": "application/x-www-form-urlencoded" };
        const response = await fetch(`${url}${path}`, { method, headers, ...(method === "GET" ? {} : { body }) });
        expect([method, path, response.status, response.ok ? "" : await response.text()]).toEqual([
          method,
          path,
          200,
          "",
        ]);
        seen.add(`${method} ${path.replace(/\/(cs|pi|cus)_[^/]+/, "/:id").split("?")[0]}`);
      }
      expect(seen.size).toBeGreaterThanOrEqual(11);
    } finally {
      mock.kill();
    }
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
