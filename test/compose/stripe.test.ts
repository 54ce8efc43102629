import { expect, test } from "@jest/globals";
import Stripe from "stripe";
import { createSite, freePorts, startTollgate } from "../support/tollgate.ts";

test("a signed event tops an account of the real program up, once", async () => {
  const secret = "whsec_of_the_test";
  const site = await createSite({ TOLLGATE_STRIPE_WEBHOOK_SECRET: secret });
  const tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  try {
    const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
    const object = { id: "pi_1", amount_received: 1999, currency: "usd", metadata: { account_id: id } };
    const body = JSON.stringify({ object: "event", type: "payment_intent.succeeded", data: { object } });
    const headers = { "stripe-signature": Stripe.webhooks.generateTestHeaderString({ payload: body, secret }) };
    const url = `http://${tollgate.addresses.webhooks}/webhooks/stripe`;
    const elsewhere = `http://${tollgate.addresses.connect}/webhooks/stripe`;
    expect((await fetch(elsewhere, { method: "POST", body, headers })).status).toBe(404);
    const services = `http://${tollgate.addresses.webhooks}/tollgate.catalogue.v1.CatalogueService/ListModels`;
    expect((await fetch(services, { method: "POST", body: "{}" })).status).toBe(404);
    for (const _ of [1, 2]) {
      expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
    }
    expect(await tollgate.admin("accounts", "show", id)).toMatchObject({ paid_total_usd: "19.99" });
  } finally {
    await tollgate.stop();
    await site.remove();
  }
}, 60_000);
