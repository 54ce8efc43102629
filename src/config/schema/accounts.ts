import * as z from "zod";
import { parseUsd } from "#lib/money/money.ts";
import { stripe } from "./stripe.ts";
import { rpm, seconds, usd, usdTotal } from "./values.ts";

/** API keys. */
export const keys = z
  .strictObject({
    prefix: z
      .string()
      .regex(/^[a-z0-9]{1,12}-$/, "must be 1 to 12 lower-case letters or digits and a dash")
      .default("tg-")
      .describe("What new keys begin with."),
    max_per_account: z
      .int()
      .positive()
      .max(10_000)
      .default(20)
      .describe(
        "Live keys, unless an account has its own bound. A rotated key counts again once its successor has ended.",
      ),
  })
  .prefault({});

const tier = z.strictObject({
  paid_usd: usd.default("0").describe("What the account has paid in total, in USD."),
  age_days: z.number().min(0).max(36_500).default(0).describe("Age of the account in days."),
  rpm: rpm.describe("Requests a minute."),
  in_flight: rpm
    .optional()
    .describe(
      "Requests that an account may run at once, on all cores together. Default: as many as a key's requests a minute.",
    ),
  weight: z
    .number()
    .min(0.01)
    .max(1000)
    .default(1)
    .describe("Where accounts wait for a server, an account gets so many times the tokens of one of weight 1."),
});

/** Rates by what an account has paid and how old it is. */
export const rateTiers = z
  .array(tier)
  .refine((tiers) => tiers.some((one) => parseUsd(one.paid_usd) === 0n && one.age_days === 0), {
    message: "a new account would reach none: one tier needs paid_usd: 0 and age_days: 0",
  })
  .prefault([{ rpm: 60 }, { paid_usd: "50", rpm: 300 }, { paid_usd: "500", age_days: 14, rpm: 2000 }])
  .describe("The best tier that an account reached sets the rate of its keys.");

/** The free tier: what accounts get without paying. */
export const freeTier = z
  .strictObject({
    grant_usd: usd.default("1.00").describe('What a new account gets in USD; "0": nothing.'),
    rpm: rpm.default(20).describe("The most requests a minute of an account that has unpaid money alone."),
    in_flight: rpm.optional().describe("The most requests that such an account may run at once. Default: as rpm."),
    for: z
      .array(z.enum(["oidc", "email"]))
      .default(["oidc", "email"])
      .describe(
        "The sign-ins of people who sign up by themselves that get the grant: oidc by a provider, email by a link; a passkey alone gets none. Each person and each verified e-mail address gets it once.",
      ),
    a_day: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(20)
      .describe(
        "The most grants to people of one network (an IPv4 address, a /56 of IPv6) who sign up by themselves within a UTC day.",
      ),
  })
  .prefault({});

/** Trying models in the console. */
export const playground = z
  .strictObject({
    usd: usd.default("1").describe("The most that the keys of one console session of a member may spend, in USD."),
  })
  .prefault({});

/** Bounds of top-ups, and who takes the money. */
export const payments = z
  .strictObject({
    stripe: stripe.optional().describe("Customers buy credit on Stripe's pages. Default: operators enter payments."),
    minimum_usd: usd.default("5").describe("The smallest top-up, in USD."),
    maximum_usd: usd.default("1000").describe("The largest top-up, in USD."),
    rolling_24h_usd: usdTotal.default("2000").describe("The most that an account may pay within 24 hours, in USD."),
  })
  .superRefine(({ minimum_usd, maximum_usd, rolling_24h_usd }, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
    const [least, most, daily] = [minimum_usd, maximum_usd, rolling_24h_usd].map(parseUsd);
    // What is no amount is refused by itself.
    if (least !== undefined && most !== undefined && least > most) {
      refuse("minimum_usd", `must not exceed maximum_usd, which is ${maximum_usd}`);
    }
    if (most !== undefined && daily !== undefined && most > daily) {
      refuse("maximum_usd", `must not exceed rolling_24h_usd, which is ${rolling_24h_usd}`);
    }
  })
  .prefault({});

/** How prices move. */
export const pricing = z
  .strictObject({
    interval_s: seconds.default(60).describe("Seconds between two moves of a price."),
    max_step: z
      .number()
      .gt(0)
      .max(1)
      .default(0.05)
      .describe("The most that one move changes a price; 0.05: 5 % of it."),
  })
  .prefault({});
