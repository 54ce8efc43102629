import { join } from "node:path";
import { keepDirectoryPrivate } from "#lib/files/private-files.ts";
import { type Random, systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { type ConfiguredCatalogue, createCatalogue } from "#src/fleet/catalogue/catalogue.ts";
import { DatabaseClock } from "#src/storage/database-clock.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type Announce, createAnnounce } from "#src/storage/outbox/announcer.ts";
import { History } from "#src/storage/postgresql/history.ts";
import type { Storage } from "#src/storage/storage.ts";
import { type CoreMetrics, coreMetrics } from "#src/telemetry/metrics/core-metrics.ts";
import type { Telemetry } from "../process/tracing.ts";

/** Dependencies of every part of the core. */
export interface Foundation {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly tracer: Telemetry["tracer"];
  /** Counts a client that is refused to keep room for others. */
  readonly refused?: Telemetry["refused"];
  readonly metrics: CoreMetrics;
  readonly random: Random;
  /**
   * The database's time, which money and keys depend on. Only code without a part in either uses the machine's time.
   */
  readonly clock: DatabaseClock;
  readonly storage: Storage;
  readonly catalogue: ConfiguredCatalogue;
  /** Announces events to their subscribers. */
  readonly announce: Announce;
  stop(): Promise<void>;
}

/** In the data directory: the continuation of the database that a core of it has written to. */
const historyFile = "database-history.json";

/** Opens the database and reads its time. */
export async function openFoundation(
  config: Config,
  secrets: Secrets,
  logger: Logger,
  { registry, tracer, refused }: Telemetry,
): Promise<Foundation> {
  const catalogue = createCatalogue(config.models, new Date());
  const metrics = coreMetrics(registry, systemClock, () => catalogue.list().map(({ id }) => id));
  if (!keepDirectoryPrivate(secrets.dataDir)) {
    logger.warn(
      { directory: secrets.dataDir },
      "other users may read the data directory: take it from them (mode 0700)",
    );
  }
  for (const file of secrets.exposedFiles) {
    logger.warn({ file }, "every user of this machine may read a secret: take it from them (mode 0600 or 0640)");
  }
  const warn = (found: string) => logger.warn({ found }, "the database is in danger");
  const standby = secrets.readUrl && {
    url: secrets.readUrl,
    mostAgeMs: config.storage.read_max_age_s * 1000,
    observer: metrics.standby,
    warn: (found: string) => logger.warn({ found }, "the standby does not answer"),
  };
  const storage = await openStorage(secrets.storageUrl, undefined, warn, {
    standby: standby || undefined,
    history: new History(join(secrets.dataDir, historyFile)),
  });
  const clock = await DatabaseClock.open(storage, systemClock, logger);
  const stopMeasuring = clock.keepMeasuring();
  return {
    config,
    secrets,
    logger,
    tracer,
    metrics,
    random: systemRandom,
    clock,
    storage,
    catalogue,
    ...(refused && { refused }),
    announce: createAnnounce({ clock, random: systemRandom }),
    async stop() {
      stopMeasuring();
      await storage.close();
    },
  };
}
