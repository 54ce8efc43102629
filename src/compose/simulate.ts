import { randomBytes } from "node:crypto";
import { defaultModels } from "../../simulator/fleet.ts";
import type { SimulatorOptions } from "../../simulator/options.ts";
import { startSimulator } from "../../simulator/server.ts";
import { startStripe } from "../../simulator/stripe/server.ts";
import type { ProcessOptions } from "./options.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";

/** `tollgate sim`: a simulated GPU server alone. */
export interface SimulateOptions extends ProcessOptions, Omit<SimulatorOptions, "models"> {
  /** Default: one model of each kind. */
  readonly models?: SimulatorOptions["models"];
}

/** Runs a simulated GPU server. Resolves when it is ready. */
export async function simulate({ log, models = defaultModels, ...options }: SimulateOptions): Promise<void> {
  const lifecycle = new Lifecycle(createLogger(log));
  const simulator = await startSimulator({ ...options, models });
  lifecycle.onStop("the simulated fleet", () => simulator.close());
  lifecycle.ready({ http: new URL(simulator.url).host, models: simulator.models.join(" ") });
}

/** `tollgate sim stripe`: a stand-in for Stripe. */
export interface SimulateStripeOptions extends ProcessOptions {
  readonly host: string;
  readonly port: number;
  /** Where events go from the start. */
  readonly webhook?: string;
}

/** Runs a stand-in for Stripe. Resolves when it is ready. */
export async function simulateStripe({ log, host, port, webhook }: SimulateStripeOptions): Promise<void> {
  const lifecycle = new Lifecycle(createLogger(log));
  const given = process.env.TOLLGATE_STRIPE_WEBHOOK_SECRET;
  const secret = given || `whsec_${randomBytes(16).toString("hex")}`;
  const stripe = await startStripe({
    host,
    port,
    ...(webhook === undefined ? {} : { webhook: { url: webhook, secret } }),
  });
  lifecycle.onStop("the stand-in for Stripe", () => stripe.close());
  // A secret that the environment has is no news.
  const made = webhook !== undefined && !given ? { webhook_secret: secret } : {};
  lifecycle.ready({ http: new URL(stripe.url).host, ...made });
}
