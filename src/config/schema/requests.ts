import * as z from "zod";

/** The record of refused requests. */
export const requests = z
  .strictObject({
    keep_days: z.int().min(1).max(365).default(7).describe("Refused requests are recorded for so many days."),
    most: z
      .int()
      .min(0)
      .max(100_000_000)
      .default(1_000_000)
      .describe(
        "The most refused requests in the record of a database. Beyond them, the oldest leave. 0: none is recorded.",
      ),
  })
  .prefault({})
  .describe("The record of refused requests, which answers why a request was refused.");
