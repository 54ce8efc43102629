import * as z from "zod";
import { freeTier, keys, payments, playground, pricing, rateTiers } from "./schema/accounts.ts";
import { mail } from "./schema/delivery/mail.ts";
import { usageEvents } from "./schema/delivery/usage-events.ts";
import { fleet, readers } from "./schema/fleet/fleet.ts";
import { model } from "./schema/fleet/model.ts";
import { labels } from "./schema/labels.ts";
import { listen } from "./schema/listen.ts";
import { http, overload, shutdown } from "./schema/process.ts";
import { receipts } from "./schema/receipts.ts";
import { requests } from "./schema/requests.ts";
import { service } from "./schema/service.ts";
import { signIn, signUp } from "./schema/sign-in.ts";
import { site } from "./schema/site.ts";
import { rateLimits, storage } from "./schema/storage.ts";
import { network, refuseRepeats } from "./schema/values.ts";

// The shape of tollgate.yaml. Defaults are here and nowhere else. The JSON Schema for editors and the configuration
// reference are generated from this.

/** The whole file. Every section is optional. */
export const configSchema = z
  .strictObject({
    listen: listen.prefault({}),
    storage,
    rate_limits: rateLimits,
    keys,
    rate_tiers: rateTiers,
    free_tier: freeTier,
    payments,
    pricing,
    fleet: fleet.prefault({}),
    readers: readers.prefault({}).describe("What readers of streamed answers are allowed."),
    http,
    overload,
    shutdown,
    webhooks: z
      .strictObject({
        allow: z
          .array(network)
          .default([])
          .describe(
            "Networks of one's own that events may be sent to, this machine (127.0.0.0/8) included; public addresses need none.",
          ),
      })
      .prefault({})
      .describe("Endpoints that are told of events."),
    labels,
    usage_events: usageEvents,
    receipts,
    requests,
    sign_in: signIn,
    sign_up: signUp,
    playground,
    site,
    mail,
    services: z
      .array(service)
      .superRefine((all, context) => refuseRepeats(all, "name", context))
      .default([])
      .describe("Internal services that may call on behalf of accounts."),
    models: z
      .array(model)
      .superRefine((all, context) => refuseRepeats(all, "id", context))
      .default([])
      .describe("What is served."),
  })
  .superRefine(({ usage_events, receipts }, context) => {
    if (usage_events.url !== undefined && usage_events.keep_days > (receipts.keep_days ?? Number.POSITIVE_INFINITY)) {
      const message = `must not exceed receipts.keep_days, which is ${receipts.keep_days}: an event is made from its receipt`;
      context.addIssue({ code: "custom", path: ["usage_events", "keep_days"], message });
    }
  });

/** The configuration with every default filled in. */
export type Config = z.output<typeof configSchema>;
export type ModelConfig = Config["models"][number];
export interface ServerConfig extends Readonly<ModelConfig["servers"][number]> {
  /** The address of this server, when each address of the URL's host is a server. Undefined: the host is one server. */
  readonly address?: string;
}
export type FleetConfig = Config["fleet"];
export type Routing = FleetConfig["routing"];
