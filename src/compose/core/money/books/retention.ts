import type { SqlEntityManager } from "@mikro-orm/sql";
import { formatUsd } from "#lib/money/money.ts";
import type { AuditTrail } from "#src/identity/audit/audit-trail.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { toArchiveMessage } from "#src/money/retention/archives.ts";
import type { ArchivePlace } from "#src/money/retention/place.ts";
import { Retention } from "#src/money/retention/retention.ts";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import type { Foundation } from "../../foundation.ts";
import type { Books } from "./books.ts";

/** Takes old receipts out of the books if the configuration limits their age. Returns the function that ends it. */
export function startRetention(
  { config, storage, clock, random, logger, metrics }: Foundation,
  { store, place }: Pick<Books, "store"> & { readonly place: ArchivePlace },
  trail: Pick<AuditTrail, "addWithin">,
): () => Promise<void> {
  const { keep_days: keepDays } = config.receipts;
  if (keepDays === undefined) {
    return async () => {};
  }
  const retention = new Retention({
    storage,
    store,
    keepDays,
    place,
    clock,
    logger,
    sealer: new Sealer({ storage, clock, random, logger }),
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
    operator: "(configuration)",
    operatorId: null,
    keyId: null,
    method: "receipts.keep_days",
    address: "",
    target: day,
    before: undefined,
    after: { receipts: archive.receipts, cost_usd: formatUsd(BigInt(costPicoUsd)), file, sha256 },
  });
}
