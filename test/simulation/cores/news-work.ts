import type { Logger } from "#lib/logger.ts";
import type { Money } from "#src/compose/core/money/money.ts";
import { UsageOutbox } from "#src/delivery/usage/usage-outbox.ts";
import { UsageSender } from "#src/delivery/usage/usage-sender.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { BudgetEvents } from "#src/money/thresholds/budget-events.ts";
import { BudgetRecounts } from "#src/money/thresholds/budget-recounts.ts";
import { SpendingWatch } from "#src/money/thresholds/spending-watch.ts";
import { findSpentWindows } from "#src/money/thresholds/spent-windows.ts";
import type { DatabaseClock } from "#src/storage/database-clock.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import type { Dice } from "../world/dice.ts";
import type { News } from "../world/news.ts";
import type { SimulatedProcess } from "../world/process.ts";

/** Starts a core's work in worlds with news: charges are sent to a receiver, and crossed thresholds are announced. */
export function startNews(
  news: News,
  parts: {
    readonly process: SimulatedProcess;
    readonly money: Money;
    readonly storage: Storage;
    readonly announce: Announce;
    readonly clock: DatabaseClock;
    readonly random: Dice;
    readonly logger: Logger;
  },
): void {
  const { process, money, storage, announce, clock, random, logger } = parts;
  const { store, prices, balances } = money;
  const lease = (name: string) => new WorkLease({ storage, clock, random, name });
  new SpendingWatch({
    ...{ storage, store, balances, clock, logger, lease: lease("spending") },
    budgets: new BudgetEvents({ storage, store, prices, announce, crossed() {} }),
    recounts: new BudgetRecounts({ storage, store, callIn: (accountId) => money.ledger.callIn(accountId) }),
    findWindows: (charged) => findSpentWindows({ storage, toBudget }, charged),
  }).start();
  new UsageSender({
    ...{ clock, logger, lease: lease("usage events"), outbox: new UsageOutbox({ storage, clock }) },
    ...{ send: news.sendFrom(process), url: "", source: "", token: undefined, keepDays: 7 },
    observer: { taken() {}, refused() {}, dropped() {}, backlog() {} },
  }).start();
}
