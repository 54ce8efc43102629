import * as z from "zod";
import { refuseRepeats } from "./values.ts";

/** Labels of one receipt, as `mostLabels` of money/model/charges/labels.ts. */
const mostLabels = 3;
/** Headers that are secrets. */
const secretHeaders = ["authorization", "proxy-authorization", "cookie", "x-api-key"];
const header = /^header:[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;

const isSource = (from: string) =>
  from === "user" || (header.test(from) && !secretHeaders.includes(from.slice("header:".length)));

const label = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,31}$/, "must be 1 to 32 small letters, digits or underscores, a letter first")
    .describe("Its name on receipts, in usage, in exports and in the contract."),
  from: z
    .string()
    .toLowerCase()
    .refine(isSource, "must be user, or header: with the name of a header that is no secret, such as header:x-title")
    .describe(
      "What the public surfaces read it from: `user` is the chat surface's `user` and the messages surface's `metadata.user_id`; `header:NAME` is a header. Callers of the core send it by its name.",
    ),
  hash: z
    .boolean()
    .optional()
    .describe(
      "Whether a keyed hash is stored in place of the value, another one in each account. Default: true from `user`, false from a header.",
    ),
});

/** Who used it. */
export const labels = z
  .strictObject({
    keep: z
      .array(label)
      .max(mostLabels)
      .superRefine((all, context) => refuseRepeats(all, "name", context))
      .default([])
      .describe(
        `The attribution labels of receipts, at most ${mostLabels}. Nothing else of what clients say is kept. Default: none.`,
      ),
    values_per_day: z
      .int()
      .min(1)
      .max(10_000)
      .default(1000)
      .describe("The most values of a label, in a day of UTC and an account. Further ones are recorded as `other`."),
    keep_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(400)
      .describe(
        "Sums of usage by label are kept for so many days. Receipts and archives have their labels as long as they last.",
      ),
  })
  .prefault({})
  .describe("Who used it: attribution labels, by which usage can be grouped.");

/** The labels of the configuration. */
export type LabelConfig = z.output<typeof label>;

/** Whether a label's values are stored as hashes. */
export const isHashed = ({ from, hash }: LabelConfig): boolean => hash ?? from === "user";
