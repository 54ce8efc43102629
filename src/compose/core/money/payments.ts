import { createClient, type Interceptor } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { reachable } from "#lib/net/address.ts";
import { createCheckout } from "#src/checkout/checkout.ts";
import type { Accounts, Dependencies } from "#src/checkout/dependencies.ts";
import type { Provider } from "#src/checkout/provider.ts";
import { createEventReader, createStripe } from "#src/checkout/stripe/stripe.ts";
import { createStripeWebhook, stripePath } from "#src/checkout/webhook.ts";
import type { Config } from "#src/config/schema.ts";
import { ownRates } from "#src/money/model/prices/own-prices.ts";
import { readOwnPrices } from "#src/money/prices/own-prices.ts";
import type { Dependencies as AccountsDependencies } from "#src/services/accounts/dependencies.ts";
import { orderedKey } from "#src/services/accounts/money-methods.ts";
import { createPaymentsService } from "#src/services/payments/payments-service.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import type { Foundation } from "../foundation.ts";
import type { Core, CoreInterceptors, Part } from "../interface.ts";
import { readPaymentLimits } from "./books/books.ts";
import type { Money } from "./money.ts";

/** Buying credit: the service, and the webhooks of the provider. */
export interface Payments extends Part {
  readonly webhooks: Core["webhooks"];
  /** Gives what was paid through the provider and not spent back through it. */
  readonly giveBack: AccountsDependencies["giveBack"];
  /** Begins to ask the provider, once the accounts service can be called. */
  start(core: Pick<Core, "services"> & CoreInterceptors): void;
}

/**
 * Opens the payment provider that is configured. Payments go through the accounts service as the operator's. `lookMs`:
 * between two looks at what is due there, unless it is the usual time.
 */
export async function composePayments(
  foundation: Foundation,
  { prices }: Pick<Money, "prices">,
  lookMs?: number,
): Promise<Payments> {
  const { config, secrets, storage, announce, clock, random, logger, metrics } = foundation;
  const provider = await openProvider(foundation);
  let accounts: Accounts | undefined;
  let ordering: Accounts | undefined;
  const lateAccounts = forward(() => accounts);
  const { topUp: topUpOrdered } = forward(() => ordering);
  const lease = new WorkLease({ storage, clock, random, name: "payments" });
  const isBooked: Dependencies["isBooked"] = async (em, reference) => (await em.count(Payment, { reference })) > 0;
  const checkout = createCheckout(
    { storage, accounts: lateAccounts, topUpOrdered, isBooked, provider, announce, clock, random, logger },
    lease,
  );
  const secret = secrets.stripeWebhookSecret;
  const readEvent = provider?.readEvent ?? (secret === undefined ? undefined : createEventReader(secret, clock));
  const webhook =
    secret === undefined || readEvent === undefined
      ? undefined
      : createStripeWebhook({ readEvent, events: checkout.events, observe: metrics.webhook, logger });
  const { stripe } = config.payments;
  const service = createPaymentsService({
    checkout,
    isAvailable: provider !== undefined,
    mayCharge: stripe !== undefined && !stripe.automatic_tax,
    limits: readPaymentLimits(config),
    prices: async (accountId) => {
      const own = accountId === "" ? undefined : await readOwnPrices(storage.orm.em.fork(), accountId);
      const list = prices.list();
      return list.map(({ model, live }) => ({ model, ...(own === undefined ? live : ownRates(live, own, model)) }));
    },
    returnUrl: consoleUrl(config),
  });
  let stop = async () => {};
  return {
    services: [registration(PaymentsService, service)],
    giveBack:
      provider === undefined
        ? async () => ({ gone: 0n, left: 0n })
        : (accountId, requestId) => checkout.giveBack.all(accountId, requestId),
    webhooks: new Map(webhook === undefined ? [] : [[stripePath, webhook]]),
    start({ services, interceptors }) {
      const asOperator: Interceptor = (next) => (request) => {
        request.header.set("authorization", `Bearer ${secrets.operatorToken}`);
        return next(request);
      };
      const asOrdered: Interceptor = (next) => (request) => {
        request.contextValues.set(orderedKey, true);
        return next(request);
      };
      const callBy = (...own: Interceptor[]) =>
        createClient(AccountsService, createDirectTransport(services, [...own, ...interceptors]));
      accounts = callBy(asOperator);
      ordering = callBy(asOperator, asOrdered);
      stop = provider === undefined ? stop : checkout.sweep.start(lookMs);
    },
    stop: () => stop(),
  };
}

async function openProvider({ config, secrets, clock }: Foundation): Promise<Provider | undefined> {
  const { stripe } = config.payments;
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret } = secrets;
  if (stripe === undefined || secretKey === undefined) {
    return undefined;
  }
  const { api_url: apiUrl, automatic_tax: automaticTax, invoices } = stripe;
  return createStripe({ secretKey, apiUrl, automaticTax, invoices, webhookSecret }, clock);
}

/** The accounts service, which exists once all services do: payments are one of them. */
function forward(find: () => Accounts | undefined): Accounts {
  const found = () => {
    const accounts = find();
    if (accounts === undefined) {
      throw new Error("the accounts service cannot be called yet");
    }
    return accounts;
  };
  return {
    topUp: (...call) => found().topUp(...call),
    refund: (...call) => found().refund(...call),
    freezeAccount: (...call) => found().freezeAccount(...call),
    getAccount: (...call) => found().getAccount(...call),
    listAccounts: (...call) => found().listAccounts(...call),
  };
}

/** Where people come back to from the provider's pages unless a call says otherwise: the site, or else the console. */
function consoleUrl({ listen, site }: Config): string {
  const here = `${listen.tls === undefined ? "http" : "https"}://${listen.console ?? listen.http}/`;
  return site.address ?? reachable(here);
}
