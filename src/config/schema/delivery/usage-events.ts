import * as z from "zod";
import { isSecureWeb } from "../values.ts";

/** The receiver of usage events. */
export const usageEvents = z
  .strictObject({
    url: z
      .string()
      .refine(isSecureWeb, "must be a URL that starts with https://, or with http:// and a loopback address")
      .optional()
      .describe(
        "A receiver of CloudEvents, such as OpenMeter's https://…/api/v1/events: gets one for each receipt, in batches, with the bearer token of TOLLGATE_USAGE_EVENTS_TOKEN. Default: none are sent.",
      ),
    source: z
      .string()
      .regex(/^[!-~]{1,200}$/, "must be a URI or a part of one, of 200 characters at most, such as tollgate")
      .default("tollgate")
      .describe("The source that events name. With it an event's id is unique: give each installation its own."),
    keep_days: z
      .int()
      .min(1)
      .max(400)
      .default(30)
      .describe("Events that the receiver has not taken for so many days are dropped; the receipts stay."),
  })
  .prefault({})
  .describe("Where usage is sent as CloudEvents.");
