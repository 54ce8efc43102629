import type { Registry } from "prom-client";
import type { Logger } from "#lib/logger.ts";
import { systemClock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { describeLost } from "#src/storage/sqlite/opened-files.ts";
import type { Storage } from "#src/storage/storage.ts";
import { watchFile } from "#src/telemetry/metrics/money/file-metrics.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The interval between two checks, and so the longest delay of the log. */
const lookMs = 1000;

/**
 * Reports a SQLite file that is not where it was opened: in the log, in metrics, and by not being ready. Returns the
 * function that ends it.
 */
export function watchDatabaseFile(
  { storage, logger }: { readonly storage: Storage; readonly logger: Logger },
  { readiness }: Pick<Lifecycle, "readiness">,
  registry: Registry,
): () => Promise<void> {
  const files = storage.dialect === "sqlite" ? storage.files : undefined;
  watchFile(registry, () => files?.lost !== undefined);
  if (files === undefined) {
    return async () => {};
  }
  readiness.findFault = () => (files.lost === undefined ? undefined : describeLost(files.lost));
  let told: string | undefined;
  const stop = repeat(systemClock, lookMs, logger, "look for the database's file", async () => {
    const { lost } = files;
    if (lost !== told) {
      told = lost;
      if (lost === undefined) {
        logger.warn({}, "the database's file is back in its place");
      } else {
        logger.error(
          { file: lost },
          "the database's file was moved, replaced or deleted; nothing is stored until it is back",
        );
      }
    }
  });
  return async () => stop();
}
