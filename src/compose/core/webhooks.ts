import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { Payment } from "#src/money/payments/stripe-payment.ts";
import { createStripeWebhook, stripePath } from "#src/money/payments/stripe-webhook.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import type { Foundation } from "./foundation.ts";
import type { Core } from "./interface.ts";

/**
 * Webhooks of the payment providers whose secrets are configured. Payments go through the accounts service as the
 * operator's.
 */
export function createWebhooks(
  { secrets, metrics, clock, logger }: Foundation,
  { services, interceptors }: Pick<Core, "services" | "interceptors">,
): Core["webhooks"] {
  const secret = secrets.stripeWebhookSecret;
  if (secret === undefined) {
    return new Map();
  }
  const client = createClient(AccountsService, createDirectTransport(services, interceptors));
  const headers = { authorization: `Bearer ${secrets.operatorToken}` };
  const topUp = async (payment: Payment) => void (await client.topUp(payment, { headers }));
  const webhook = createStripeWebhook({ secret, topUp, observe: metrics.webhook, clock, logger });
  return new Map([[stripePath, webhook]]);
}
