import * as z from "zod";
import { isSecureHost } from "./values.ts";

/** Stripe as the payment provider. */
export const stripe = z
  .strictObject({
    secret_key_file: z.string().min(1).optional().describe("A file that holds the secret key."),
    secret_key_env: z.string().min(1).optional().describe("An environment variable that holds the secret key."),
    webhook_secret_file: z.string().min(1).optional().describe("A file that holds the secret that signs events."),
    webhook_secret_env: z
      .string()
      .min(1)
      .optional()
      .describe("An environment variable that holds it. Default: TOLLGATE_STRIPE_WEBHOOK_SECRET."),
    api_url: z
      .string()
      .refine(isSecureHost, "must be an https address, or http on this machine, such as https://api.stripe.com")
      .default("https://api.stripe.com")
      .describe("Where Stripe is; `tollgate sim stripe` stands in for it."),
    automatic_tax: z.boolean().default(false).describe("Whether Stripe adds taxes; turns auto top-up off."),
    invoices: z.boolean().default(true).describe("Whether Stripe makes an invoice of each checkout."),
  })
  .refine(
    (value) => (value.secret_key_file === undefined) !== (value.secret_key_env === undefined),
    "needs exactly one of secret_key_file and secret_key_env",
  )
  .refine(
    (value) => value.webhook_secret_file === undefined || value.webhook_secret_env === undefined,
    "needs at most one of webhook_secret_file and webhook_secret_env",
  );
