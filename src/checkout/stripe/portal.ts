import type Stripe from "stripe";
import { cent } from "#lib/money/cents.ts";
import type { Provider } from "../provider.ts";
import { asking } from "./client.ts";

const most = 100;

/** Stripe's customer portal, and its invoices. */
export function createPortal(stripe: Stripe): Provider["portal"] {
  return {
    open: async (customer, returnUrl) =>
      (await asking(() => stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }))).url,
    async invoices(customer) {
      const { data } = await asking(() => stripe.invoices.list({ customer, limit: most }));
      return data.map(({ id, number, created, total, hosted_invoice_url, invoice_pdf, status }) => ({
        number: number ?? id ?? "",
        at: new Date(created * 1000),
        total: total * cent,
        url: hosted_invoice_url ?? "",
        pdfUrl: invoice_pdf ?? "",
        status: status ?? "",
      }));
    },
  };
}
