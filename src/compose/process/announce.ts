import { resolve } from "node:path";
import type { Logger } from "#lib/logger.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { announceRunning } from "#src/config/data-dir/running-core.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The interval between attempts to write the file, such as on a full disk. */
const retryMs = 10_000;

/**
 * Announces that the process is ready: in the log, and in the data directory, where the command line finds a running
 * core, and with `site` where people find its console. A file that cannot be written is written once it can.
 */
export async function announceReady(
  lifecycle: Pick<Lifecycle, "ready">,
  logger: Logger,
  dataDir: string,
  addresses: Readonly<Record<string, string>>,
  site: string | undefined,
  clock: Pick<Clock, "after"> = systemClock,
): Promise<void> {
  const write = () => announceRunning(dataDir, { ...addresses, ...(site !== undefined && { site }) });
  const writeAgain = () => write().catch(() => void clock.after(retryMs, () => void writeAgain()));
  try {
    await write();
  } catch (error) {
    logger.warn({ err: error }, "the command line has to be given --core: running.json cannot be written");
    clock.after(retryMs, () => void writeAgain());
  }
  lifecycle.ready({ ...addresses, data: resolve(dataDir) });
}
