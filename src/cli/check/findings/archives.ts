import { systemRandom } from "#lib/ids/random.ts";
import { findArchivePlace } from "#src/compose/core/money/books/archive-place.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { type Finding, toReason } from "../finding.ts";

/**
 * Checks that a bucket for archives is there and can be read, and that several cores would find each other's. Whether a bucket
 * takes any is seen with the first.
 */
export async function checkArchives(config: Config, secrets: Secrets): Promise<Finding[]> {
  const { archive_s3: bucket, archive_dir, keep_days } = config.receipts;
  const part = "archives";
  if (bucket === undefined) {
    const isOwn = archive_dir === undefined && keep_days !== undefined && !secrets.storageUrl.startsWith("sqlite:");
    const message =
      "in this data directory: cores with another one would not find them; set receipts.archive_dir or receipts.archive_s3";
    return isOwn ? [{ part, status: "warning", message }] : [];
  }
  try {
    const place = await findArchivePlace({ config, secrets, random: systemRandom });
    await place.identify("receipts");
    const isUsed = keep_days !== undefined;
    const message = `${bucket.url} can be read${isUsed ? "" : ", but receipts.keep_days is not set: all receipts stay"}`;
    return [{ part, status: isUsed ? "ok" : "warning", message }];
  } catch (error) {
    return [{ part, status: "wrong", message: `${toReason(error)}: check receipts.archive_s3` }];
  }
}
