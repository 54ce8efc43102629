import { join } from "node:path";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { formatUsd } from "../../../../lib/money.ts";
import type { AuditTrail } from "../../../audit/audit-trail.ts";
import { WorkLease } from "../../../events/work-lease.ts";
import { toArchiveMessage } from "../../../metering/retention/archives.ts";
import { Retention } from "../../../metering/retention/retention.ts";
import type { ReceiptArchive } from "../../../storage/entities/metering/archive.ts";
import { type Shard, toShardDirectory } from "../../shards/open-shards.ts";

/** Takes old receipts out of a database if the configuration limits their age. Returns the function that ends it. */
export function startRetention(
  { foundation, books: { store } }: Shard,
  shard: number,
  trail: Pick<AuditTrail, "addWithin">,
): () => Promise<void> {
  const { config, secrets, storage, clock, random, logger, metrics } = foundation;
  const { keep_days: keepDays, archive_dir: common } = config.receipts;
  if (keepDays === undefined) {
    return async () => {};
  }
  // An archive is named by its day, so each database needs its own directory.
  const directory = common === undefined ? join(secrets.dataDir, "archive") : toShardDirectory(common, shard);
  const retention = new Retention({
    ...{ storage, store, keepDays, directory, clock, random, logger },
    note: (em, archive) => noteArchive(trail, em, archive),
    lease: new WorkLease({ storage, clock, random, name: "retention" }),
    observer: metrics.retention,
  });
  return retention.start();
}

/** The program itself makes this change, as configured. */
function noteArchive(
  trail: Pick<AuditTrail, "addWithin">,
  em: SqlEntityManager,
  archive: ReceiptArchive,
): Promise<void> {
  const { day, costPicoUsd, file, sha256 } = toArchiveMessage(archive);
  return trail.addWithin(em, {
    ...{ operator: "(configuration)", operatorId: null, method: "receipts.keep_days", address: "" },
    target: day,
    before: undefined,
    after: { receipts: archive.receipts, cost_usd: formatUsd(BigInt(costPicoUsd)), file, sha256 },
  });
}
