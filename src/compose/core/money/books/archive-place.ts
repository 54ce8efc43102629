import { join } from "node:path";
import { ConfigError } from "#src/config/config-error.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import type { ArchivePlace } from "#src/money/retention/place.ts";
import type { Foundation } from "../../foundation.ts";

/** Where archives are, as configured. A bucket is asked nothing yet; what speaks to it is loaded only for one. */
export function findArchivePlace({
  config: { receipts },
  secrets,
  random,
}: Pick<Foundation, "config" | "secrets" | "random">): ArchivePlace | Promise<ArchivePlace> {
  return receipts.archive_s3 === undefined
    ? archiveFolder(receipts.archive_dir ?? join(secrets.dataDir, "archive"), random)
    : openBucket(receipts.archive_s3, secrets.archiveSecretKey);
}

async function openBucket(
  { url, endpoint, region, access_key_id }: NonNullable<Foundation["config"]["receipts"]["archive_s3"]>,
  secretAccessKey: string | undefined,
): Promise<ArchivePlace> {
  if (secretAccessKey === undefined) {
    throw new ConfigError("receipts.archive_s3: there is no secret access key");
  }
  const { archiveBucket } = await import("#src/money/retention/s3/archive-bucket.ts");
  const { hostname: bucket, pathname } = new URL(url);
  return archiveBucket({
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    ...{ region, bucket, secretAccessKey },
    prefix: pathname.replace(/^\/+/, "").replace(/([^/])\/*$/, "$1/"),
    accessKeyId: access_key_id,
  });
}
