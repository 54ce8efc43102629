import * as z from "zod";
import { isSecureHost } from "./values.ts";

/** Streams, journals of dead cores and late corrections of a day have come by then. */
const leastDays = 7;

/** Names of buckets and of folders in them that mean the same in an address and in a signature. */
const bucketUrl = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/;

/** A bucket for archives. */
const archiveS3 = z
  .strictObject({
    url: z
      .string()
      .regex(bucketUrl, "must be s3://BUCKET or s3://BUCKET/PREFIX, of letters, digits and . _ -")
      .describe("The bucket, and what the names of archives begin with: s3://BUCKET/PREFIX."),
    endpoint: z
      .string()
      .refine(isSecureHost, "must be an https address, or http on this machine, such as https://s3.example.com")
      .optional()
      .describe("Where an S3-compatible service is. Default: Amazon's, of the region."),
    region: z.string().min(1).default("us-east-1").describe("The bucket's region."),
    access_key_id: z.string().min(1).describe("The id of the access key, which is no secret."),
    secret_access_key_file: z.string().min(1).optional().describe("A file that holds the secret access key."),
    secret_access_key_env: z
      .string()
      .min(1)
      .optional()
      .describe("An environment variable that holds the secret access key."),
  })
  .refine(
    (value) => (value.secret_access_key_file === undefined) !== (value.secret_access_key_env === undefined),
    "needs exactly one of secret_access_key_file and secret_access_key_env",
  );

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
    archive_s3: archiveS3
      .optional()
      .describe("A bucket of an S3-compatible service for archives, in the place of a folder. Default: a folder."),
  })
  .refine(
    (value) => value.archive_dir === undefined || value.archive_s3 === undefined,
    "needs at most one of archive_dir and archive_s3",
  )
  .prefault({})
  .describe("How long receipts are kept.");
