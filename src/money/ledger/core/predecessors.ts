import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { CoreStore } from "../../model/store/core.ts";
import { type CoreEpoch, deadAfterMs } from "../../model/store/core.ts";

/** The interval between checks for signs of life of earlier epochs. */
const lookMs = 1000;

/**
 * Waits until every process that may have written this core's journal is certainly dead: at once when it held the lock
 * that this process holds now, otherwise when its heartbeat counter has stood still for 30 s. Throws when a heartbeat
 * comes: then the journal is a copy of a living core's, which charges its requests itself and knows more of them than
 * the copy.
 */
export async function awaitPredecessors(
  parts: { readonly store: CoreStore; readonly clock: Clock; readonly logger: Logger },
  instance: string | undefined,
): Promise<void> {
  const { store, clock, logger } = parts;
  const suspects = async () =>
    (await store.epochs()).filter((epoch) => !epoch.dead && (instance === undefined || epoch.instance !== instance));
  const seen = await suspects();
  if (seen.length === 0) {
    return;
  }

  logger.warn({ epochs: seen.length }, "waiting for a sign of life of the core that this journal comes from");
  const began = clock.monotonic();
  while (clock.monotonic() - began < deadAfterMs) {
    await new Promise<void>((resolve) => clock.after(lookMs, resolve));
    refuseLiving(seen, await suspects());
  }
  await store.reap(seen);
  refuseLiving(seen, await suspects());
}

function refuseLiving(seen: readonly CoreEpoch[], now: readonly CoreEpoch[]): void {
  for (const { coreId, epoch, beats } of now) {
    const before = seen.find((other) => other.epoch === epoch);
    if (before?.beats === beats) {
      continue;
    }
    throw new Error(
      `the journal of core ${coreId} is another process's, which runs: this data directory is a copy of its own, or both use it. Give this process an empty TOLLGATE_DATA_DIR`,
    );
  }
}
