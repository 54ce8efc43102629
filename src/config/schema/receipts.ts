import * as z from "zod";

/** Streams, journals of dead cores and late corrections of a day have come by then. */
const leastDays = 7;

/** How long receipts stay in the books. */
export const receipts = z
  .strictObject({
    keep_days: z
      .int()
      .min(leastDays)
      .max(36_500)
      .optional()
      .describe(
        `Receipts stay in the books for so many whole days of UTC, at least ${leastDays}. Older ones are written to an archive, which answers for them from then on; sums of usage stay. Default: all receipts stay.`,
      ),
    archive_dir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The folder of archives, a file for each day, from which old receipts are read. Several cores need one that all of them reach. Default: archive in the data directory.",
      ),
  })
  .prefault({})
  .describe("How long receipts are kept.");
