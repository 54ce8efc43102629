import type Stripe from "stripe";
import { bareHost } from "#lib/net/address.ts";
import { RefusedByProvider, UnknownCustomer } from "../provider.ts";

/** How Stripe is reached. */
export interface StripeAccess {
  readonly secretKey: string;
  /** The address of its API. */
  readonly apiUrl: string;
}

/** Milliseconds that Stripe may take for an answer. */
const timeout = 20_000;

/** Loads Stripe's library, a quarter of the installed program, which nobody else needs. */
export async function loadStripe({ secretKey, apiUrl }: StripeAccess): Promise<Stripe> {
  const { default: StripeClient } = await import("stripe");
  const url = new URL(apiUrl);
  const isPlain = url.protocol === "http:";
  return new StripeClient(secretKey, {
    protocol: isPlain ? "http" : "https",
    host: bareHost(url.hostname),
    port: url.port === "" ? (isPlain ? 80 : 443) : Number(url.port),
    maxNetworkRetries: 1,
    telemetry: false,
    timeout,
    appInfo: { name: "Tollgate" },
  });
}

interface StripeFault {
  readonly type?: string;
  readonly statusCode?: number;
  readonly code?: string;
  readonly param?: string;
  readonly message?: string;
}

/**
 * Whether Stripe has understood a request and will never do it. A key that was sent with other parameters, a limit of
 * requests, a wrong secret key, and every fault of Stripe's or of the network are none.
 */
export function isRefusal(error: unknown): error is StripeFault {
  const { type } = error as StripeFault;
  return type === "StripeCardError" || type === "StripeInvalidRequestError";
}

/** Whether it names a customer that Stripe does not know, or not any more. */
function isUnknownCustomer({ code, param, message = "" }: StripeFault): boolean {
  return code === "resource_missing" && (param === "customer" || message.startsWith("No such customer"));
}

/** Runs a request. Throws RefusedByProvider where sending it again changes nothing, UnknownCustomer for one. */
export async function asking<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (isRefusal(error)) {
      const Refused = isUnknownCustomer(error) ? UnknownCustomer : RefusedByProvider;
      throw new Refused(error.message ?? "refused", { cause: error });
    }
    throw error;
  }
}
