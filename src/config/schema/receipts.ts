import * as z from "zod";

/** Payments may be disputed for months, and their receipts are the proof, so no receipt leaves sooner. */
const leastDays = 180;

/** How long receipts stay in the books. */
export const receipts = z
  .strictObject({
    keep_days: z
      .int()
      .min(leastDays)
      .max(36_500)
      .optional()
      .describe(
        `Receipts stay in the books for so many whole days of UTC, at least ${leastDays}. Older ones are written to an archive and removed; sums of usage stay. The law of your country may ask for more. Default: all receipts stay.`,
      ),
    archive_dir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The folder of archives, a file for each day. Several cores need one that all of them reach. Default: archive in the data directory.",
      ),
  })
  .prefault({})
  .describe("How long receipts are kept.");
