import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { repeat } from "../../../lib/time/repeat.ts";
import type { Debts } from "../books/debts.ts";
import type { BudgetCache } from "./budget/budget-cache.ts";
import type { CoreLease } from "./core/core-lease.ts";
import type { RunningRequests } from "./running-requests.ts";
import type { WalletCache } from "./wallet/wallet-cache.ts";

/** A killed process is billed what was noted at most this long before. */
const noteMs = 1000;
const tidyMs = 1000;
/** How often what this core knows of its slices is compared with what the store says. */
const auditMs = 60_000;

/** Dependencies. */
export interface UpkeepParts {
  readonly requests: RunningRequests;
  readonly wallets: WalletCache;
  readonly budgets: BudgetCache;
  readonly coreLease: CoreLease;
  readonly debts: Pick<Debts, "payAll">;
  /** Mends the connection on which other cores are heard. */
  readonly listen: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts what keeps the ledger in order while requests run. Returns the function that ends it all. */
export function startUpkeep({
  requests,
  wallets,
  budgets,
  coreLease,
  debts,
  listen,
  clock,
  logger,
}: UpkeepParts): () => void {
  const jobs = [
    repeat(clock, noteMs, logger, "note running requests", async () => requests.noteAll()),
    repeat(clock, tidyMs, logger, "tidy the ledger", async () => {
      if (!(await coreLease.renew())) {
        budgets.loseAll();
        await wallets.audit();
      }
      await listen();
      await wallets.tidy();
      await budgets.tidy();
    }),
    repeat(clock, auditMs, logger, "compare slices with the store", () => wallets.audit()),
    repeat(clock, auditMs, logger, "pay debts", () => debts.payAll()),
  ];
  return () => {
    for (const stop of jobs) {
      stop();
    }
  };
}
