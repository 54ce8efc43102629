import { resolve } from "node:path";
import type { Logger } from "#lib/logger.ts";
import { announceRunning } from "#src/config/data-dir/running-core.ts";
import type { Lifecycle } from "./lifecycle.ts";

/**
 * Announces that the process is ready: in the log, and in the data directory, where the command line finds a running
 * core, and with `site` where people find its console.
 */
export async function announceReady(
  lifecycle: Lifecycle,
  logger: Logger,
  dataDir: string,
  addresses: Readonly<Record<string, string>>,
  site: string | undefined,
): Promise<void> {
  try {
    await announceRunning(dataDir, { ...addresses, ...(site !== undefined && { site }) });
  } catch (error) {
    logger.warn({ err: error }, "the command line has to be given --core: running.json cannot be written");
  }
  lifecycle.ready({ ...addresses, data: resolve(dataDir) });
}
