import { gzipSync } from "node:zlib";
import type { Logger } from "#lib/logger.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Money } from "#src/compose/core/money/money.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { Retention } from "#src/money/retention/retention.ts";
import { BudgetRecounts } from "#src/money/thresholds/budget-recounts.ts";
import { SpendingWatch } from "#src/money/thresholds/spending-watch.ts";
import { findSpentWindows } from "#src/money/thresholds/spent-windows.ts";
import type { DatabaseClock } from "#src/storage/database-clock.ts";
import type { Storage } from "#src/storage/storage.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import type { Dice } from "../world/dice.ts";
import type { Night } from "../world/night.ts";
import type { SimulatedProcess } from "../world/process.ts";

/** Milliseconds between two searches for receipts that are due. */
const archiveMs = 4000;

/** Starts a core's additional work in worlds with a night: budgets are recounted, and old receipts leave the books. */
export function startNight(
  night: Night,
  parts: {
    readonly process: SimulatedProcess;
    readonly money: Money;
    readonly storage: Storage;
    readonly clock: DatabaseClock;
    readonly random: Dice;
    readonly logger: Logger;
  },
): void {
  const { process, money, storage, clock, random, logger } = parts;
  const { store } = money;
  const lease = (name: string) => new WorkLease({ storage, clock, random, name });
  new SpendingWatch({
    ...{ storage, store, clock, logger, lease: lease("spending") },
    // Nothing is reported.
    balances: { findFallen: async () => [], judgeFall: async () => {} },
    budgets: { judge: async () => {} },
    recounts: new BudgetRecounts({ storage, store, callIn: (accountId) => money.ledger.callIn(accountId) }),
    findWindows: (charged) => findSpentWindows({ storage, toBudget }, charged),
  }).start();
  const sealer = new Sealer({ storage, clock, random, logger });
  const retention = new Retention({
    ...{ storage, store, clock, logger, keepDays: 0, lease: lease("retention") },
    sealer: {
      seal(day) {
        night.reaches("due", process);
        return sealer.seal(day);
      },
    },
    place: night.folderOf(process),
    // Threads would end in the machine's time, not in the world's.
    compress: async (text) => gzipSync(text),
    note: async () => {},
    observer: { removed() {}, looked() {} },
  });
  repeat(clock, archiveMs, logger, "archive old receipts", async () => {
    if (night.isOver) {
      await retention.work();
    }
  });
}
