import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { BudgetCache } from "./budget/budget-cache.ts";
import type { CoreLease } from "./core/core-lease.ts";
import type { RunningRequests } from "./running-requests.ts";
import type { LostCharges } from "./settlement/lost-charges.ts";
import type { WalletCache } from "./wallet/cache/wallet-cache.ts";
import type { Debts } from "./wallet/debts.ts";

/** Progress is noted in the journal at this interval: after a kill, requests are charged up to their last note. */
const noteMs = 1000;
const beatMs = 1000;
const tidyMs = 1000;
/** The interval between audits that compare this core's slices with the store's. */
const auditMs = 60_000;

interface Dependencies {
  readonly requests: RunningRequests;
  readonly wallets: WalletCache;
  readonly budgets: BudgetCache;
  readonly coreLease: CoreLease;
  readonly debts: Pick<Debts, "payAll">;
  /** Runs a function while an account's free money is given back. */
  readonly withFreeReturned: (accountId: string, run: () => Promise<unknown>) => Promise<unknown>;
  /** Absent: the database loses nothing. */
  readonly lost: LostCharges | undefined;
  /** Restores the connection that brings announcements of other cores. */
  readonly listen: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts the periodic work that keeps the ledger in order. Returns the function that ends it. */
export function startUpkeep({
  requests,
  wallets,
  budgets,
  coreLease,
  debts,
  withFreeReturned,
  lost,
  listen,
  clock,
  logger,
}: Dependencies): () => void {
  const jobs = [
    repeat(clock, noteMs, logger, "note running requests", async () => requests.noteAll()),
    // By itself: what takes long elsewhere must not make others take this core for dead.
    repeat(clock, beatMs, logger, "say that this core is alive", () => coreLease.renew()),
    repeat(clock, tidyMs, logger, "tidy the ledger", async () => {
      await coreLease.confirm(async () => {
        budgets.loseAll();
        await wallets.audit();
        await budgets.audit();
        await lost?.doubt(); // the database may have gone back
      });
      if (await lost?.look()) {
        await wallets.audit(); // what was given back may be leased again
        await budgets.audit();
      }
      await wallets.tidy();
      await budgets.tidy();
    }),
    // By itself, too: behind a pooler it goes to another address, which may be away or silent while the rest works.
    repeat(clock, tidyMs, logger, "hear other cores", listen),
    repeat(clock, auditMs, logger, "compare slices with the store", () => wallets.audit()),
    repeat(clock, auditMs, logger, "compare slices of budgets with the store", () => budgets.audit()),
    repeat(clock, auditMs, logger, "pay debts", () => debts.payAll(withFreeReturned)),
  ];
  return () => {
    for (const stop of jobs) {
      stop();
    }
  };
}
