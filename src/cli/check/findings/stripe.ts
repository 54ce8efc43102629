import { loadStripe } from "#src/checkout/stripe/client.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { type Finding, toReason } from "../finding.ts";

/** A payment that is not there: asking for it changes nothing, and tells whether the key is known. */
const unknownPayment = "pi_asked_by_tollgate_check";

/** Checks that Stripe is reached and takes the secret key, and that its events will be believed. */
export async function checkStripe({ payments }: Config, secrets: Secrets): Promise<Finding[]> {
  const part = "payments.stripe";
  const { stripeSecretKey: secretKey, stripeWebhookSecret } = secrets;
  if (payments.stripe === undefined || secretKey === undefined) {
    return [];
  }
  const { api_url: apiUrl } = payments.stripe;
  const { host } = new URL(apiUrl);
  try {
    const stripe = await loadStripe({ secretKey, apiUrl });
    await stripe.paymentIntents.retrieve(unknownPayment);
  } catch (error) {
    const { code, type, detail } = error as {
      readonly code?: string;
      readonly type?: string;
      readonly detail?: unknown;
    };
    if (type === "StripeConnectionError") {
      const message = `${host} does not answer (${toReason(detail ?? error)}): check payments.stripe.api_url`;
      return [{ part, status: "wrong", message }];
    }
    if (code !== "resource_missing") {
      const mend = "check payments.stripe.secret_key_file or secret_key_env";
      return [{ part, status: "wrong", message: `${host}: ${toReason(error)}: ${mend}` }];
    }
  }
  if (stripeWebhookSecret === undefined) {
    const message = `${host} takes the key, but payments are told late: TOLLGATE_STRIPE_WEBHOOK_SECRET is not set`;
    return [{ part, status: "warning", message }];
  }
  return [{ part, status: "ok", message: `${host} takes the key` }];
}
