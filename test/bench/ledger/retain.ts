import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import type { ReceiptStore } from "#src/money/model/store/receipt.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { Retention } from "#src/money/retention/retention.ts";
import type { Storage } from "#src/storage/storage.ts";
import { type Percentiles, percentiles } from "../report/statistics.ts";

/** What the retention has done so far. Times in milliseconds. */
export interface Retained {
  readonly archived: number;
  readonly removed: number;
  /** From the first removal to the last. */
  readonly duration: number;
  /** Of a step: as long as it takes, locks included. */
  readonly step: Percentiles;
}

/** A retention that is under way. */
export interface Retaining {
  /** How far it is. */
  tell(): Retained;
  /** Lets it stand still after its present step, or go on. */
  pause(paused: boolean): void;
}

/** Archives and removes what is older than 180 days, as a core does, beside its requests. */
export async function retain(
  { storage, store, logger }: { readonly storage: Storage; readonly store: ReceiptStore; readonly logger: Logger },
  directory: string,
): Promise<Retaining> {
  const steps: number[] = [];
  let paused = false;
  let goOn: (() => void) | undefined;
  const clock: Clock = {
    ...systemClock,
    after(ms, act) {
      return systemClock.after(ms, () => {
        if (paused) {
          goOn = act;
        } else {
          act();
        }
      });
    },
  };
  let [archived, removed, first, last] = [0, 0, 0, 0];
  const retention = new Retention({
    ...{ storage, keepDays: 180, clock: { ...clock, agrees: true }, logger },
    place: archiveFolder(await mkdtemp(join(directory, "archive-")), systemRandom),
    sealer: new Sealer({ storage, clock, random: systemRandom, logger }),
    store: {
      async removeReceipts(most) {
        const since = performance.now();
        const count = await store.removeReceipts(most);
        last = performance.now();
        first ||= since;
        if (count > 0) {
          steps.push(last - since);
        }
        return count;
      },
    },
    note: async (_, { receipts }) => {
      archived += receipts;
    },
    lease: { hold: async () => true, release: async () => {} },
    observer: {
      removed(count) {
        removed += count;
      },
      looked() {},
    },
  });
  retention.work().catch((error: unknown) => logger.error({ error }, "the retention failed"));
  return {
    tell: () => ({ archived, removed, duration: last - first, step: percentiles(steps) }),
    pause(now) {
      paused = now;
      const act = paused ? undefined : goOn;
      if (act !== undefined) {
        goOn = undefined;
        act();
      }
    },
  };
}
