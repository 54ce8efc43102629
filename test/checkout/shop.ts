import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { Registry } from "prom-client";
import Stripe from "stripe";
import type { input } from "zod";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { Door } from "#lib/door/door.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { stripePath } from "#src/checkout/webhook.ts";
import { composeCore } from "#src/compose/core.ts";
import { Lifecycle } from "#src/compose/process/lifecycle.ts";
import { applyWorkarounds } from "#src/compose/process/workarounds.ts";
import { configSchema } from "#src/config/schema.ts";
import { readSecrets } from "#src/config/secrets/secrets.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import type { Simulator } from "../../simulator/server.ts";
import { type StandIn, startStripe } from "../../simulator/stripe/server.ts";
import { eventually } from "../support/eventually.ts";
import { errorLogger } from "../support/loggers.ts";

/** USD in pico-USD. */
export const usd = (amount: number) => BigInt(Math.round(amount * 100)) * 10_000_000_000n;

/** Milliseconds between two looks at balances and at what is due: tests wait for many. */
const lookMs = 100;
const operatorToken = "operator-token-of-the-shop-0123456789abcdef";

/** A core that sells credit by the stand-in for Stripe. */
export interface Shop {
  readonly accounts: Client<typeof AccountsService>;
  readonly payments: Client<typeof PaymentsService>;
  readonly operator: Transport;
  /** Where events go. */
  readonly webhookUrl: string;
  /** What the webhook has answered, in order. */
  readonly answers: number[];
  account(): Promise<string>;
  balance(accountId: string): Promise<bigint>;
  /** Asks for an answer by a key of the account. */
  ask(accountId: string, prompt: string, signal?: AbortSignal): Promise<AsyncIterable<unknown>>;
  /** Spends some money on an answer. Returns how much. */
  spend(accountId: string): Promise<bigint>;
  /** Whether the books add up. */
  proves(): Promise<unknown>;
  stop(): Promise<void>;
}

/** A secret that signs the events of a stand-in. */
export const webhookSecret = "whsec_of_the_shop";

type Payments = NonNullable<input<typeof configSchema>["payments"]>;
export type PaymentSettings = Partial<NonNullable<Payments["stripe"]>>;
export type PaymentLimits = Omit<Payments, "stripe">;

/** Starts a core on a database. `stripe` undefined: no secret key is configured. */
export async function openShop(
  url: string,
  stripe: StandIn | undefined,
  settings: PaymentSettings = {},
  engine?: Simulator,
  limits: PaymentLimits = {},
): Promise<Shop> {
  applyWorkarounds();
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-shop-"));
  const config = configSchema.parse({
    models: [
      {
        id: "plain",
        // The dearest there is: an answer is worth some cents.
        price: { input: "1", output: "1000" },
        servers: [{ url: engine?.url ?? "http://127.0.0.1:1", engine: "vllm" }],
      },
    ],
    free_tier: { grant_usd: "0" },
    payments: {
      rolling_24h_usd: "1000",
      ...limits,
      ...(stripe ? { stripe: { secret_key_env: "KEY", api_url: stripe.url, ...settings } } : {}),
    },
  });
  const environment = {
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_STORAGE_URL: url,
    TOLLGATE_OPERATOR_TOKEN: operatorToken,
    TOLLGATE_KEY_PEPPER: "pepper-of-the-shop-0123456789abcdef0123456789",
    TOLLGATE_STRIPE_WEBHOOK_SECRET: webhookSecret,
    KEY: "sk_test_of_the_shop",
  };
  const secrets = await readSecrets(config, environment, systemRandom);
  const lifecycle = new Lifecycle(errorLogger);
  const telemetry = { registry: new Registry(), tracer: undefined };
  const idle = { overload: { shortage: undefined }, intake: { enter: () => undefined } };
  const core = await composeCore(config, secrets, lifecycle, errorLogger, telemetry, idle, [], lookMs);
  const operator = createDirectTransport(core.services, [
    (next) => (request) => {
      request.header.set("authorization", `Bearer ${operatorToken}`);
      return next(request);
    },
    ...core.interceptors,
  ]);
  const answers: number[] = [];
  const webhook = core.webhooks.get(stripePath)?.(new Door({ listener: "payments" }));
  const server = createServer((request, response) => {
    response.once("finish", () => answers.push(response.statusCode));
    webhook?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accounts = createClient(AccountsService, operator);
  const balance = async (accountId: string) => {
    const { account } = await accounts.getAccount({ accountId });
    return (account?.balancePicoUsd ?? 0n) - (account?.debtPicoUsd ?? 0n);
  };
  const inference = createClient(InferenceService, createDirectTransport(core.services, core.interceptors));
  const ask: Shop["ask"] = async (accountId, text, signal) => {
    const { secret } = await accounts.createKey({ accountId });
    const asked = { model: "plain", prompt: { case: "text", value: text }, maxOutputTokens: 200 } as const;
    return inference.generate(asked, { headers: { authorization: `Bearer ${secret}` }, ...(signal && { signal }) });
  };
  return {
    accounts,
    ask,
    payments: createClient(PaymentsService, operator),
    operator,
    webhookUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${stripePath}`,
    answers,
    account: async () => (await accounts.createAccount({})).account?.id ?? "",
    balance,
    async spend(accountId) {
      const before = await balance(accountId);
      for await (const _ of await ask(accountId, "Hello")) {
        // read to its end
      }
      return before - (await balance(accountId));
    },
    async proves() {
      const books = createClient(BooksService, operator);
      const { findings } = await books.reconcile({});
      return findings;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await lifecycle.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A stand-in whose events are signed by the shop's secret. */
export async function openStripe(): Promise<StandIn> {
  return startStripe({ host: "127.0.0.1", port: 0 });
}

/** Sends the stand-in's events to a shop. */
export function connectEvents(stripe: StandIn, { webhookUrl }: Shop): void {
  const { state } = stripe;
  const head = state.head("we", "webhook_endpoint" as const);
  const facts = { url: webhookUrl, secret: webhookSecret, status: "enabled", metadata: {}, enabled_events: ["*"] };
  state.endpoints.set(head.id, { ...head, ...facts });
}

/** What a person does on the page of a checkout. */
export async function press(page: string, result: "paid" | "declined" | "canceled", save = false): Promise<Response> {
  const body = new URLSearchParams({ result, ...(save ? { save: "on" } : {}) });
  return fetch(page, { method: "POST", body, redirect: "manual" });
}

/** Waits until the account has an amount. */
export async function hasBalance(shop: Shop, accountId: string, amount: bigint): Promise<void> {
  await eventually(`the balance is ${amount}`, async () => (await shop.balance(accountId)) === amount);
}

/** Sends an event as Stripe would, signed by its own library. */
export async function sendEvent(shop: Shop, event: object, secret = webhookSecret): Promise<number> {
  const payload = JSON.stringify({ object: "event", ...event });
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
  const response = await fetch(shop.webhookUrl, {
    method: "POST",
    body: payload,
    headers: { "stripe-signature": signature },
  });
  await response.text();
  return response.status;
}
