import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Debts } from "../books/debts.ts";
import type { Journal, JournalEntry, JournalRemains } from "../journal/journal.ts";
import type { LedgerStore } from "../store/ledger-store.ts";
import type { BudgetCache } from "./budget/budget-cache.ts";
import type { Entered } from "./core/core-store.ts";
import { awaitPredecessors } from "./core/predecessors.ts";
import { type Run, runKey } from "./run.ts";
import type { Charge } from "./settlement/charge.ts";
import type { StoredCharge } from "./settlement/charge-store.ts";
import { toRest } from "./settlement/settler/run-rest.ts";
import type { Settler } from "./settlement/settler/settler.ts";
import type { WalletCache } from "./wallet/cache/wallet-cache.ts";

/** A start waits so long for what an earlier process left behind; what takes longer is charged while requests run. */
const recoveryMs = 10_000;
/** Runs that the store is asked for at once. */
const askedAtOnce = 1000;

/** Dependencies. */
export interface RecoveryParts {
  readonly store: LedgerStore;
  readonly journal: Journal;
  readonly settler: Pick<Settler, "recover" | "remake">;
  readonly wallets: Pick<WalletCache, "closeSlices">;
  readonly budgets: Pick<BudgetCache, "adopt" | "closeSlices">;
  readonly debts: Pick<Debts, "payAll">;
  /** Has the core's heart beat for the first time. */
  readonly beat: () => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Charges what was promised or running when an earlier process died, and takes its money back. Each record stands for
 * itself: what cannot be charged goes to the dead letters; what the store does not take yet is tried again while requests run.
 */
export async function recover(parts: RecoveryParts): Promise<void> {
  const { store, journal, clock, logger } = parts;
  const databaseId = await store.identify();
  const remains = await journal.read(databaseId);
  const left = { slices: 0, promised: remains.charges.length, running: remains.running.length };
  if (left.promised + left.running > 0) {
    await awaitPredecessors({ store, clock, logger }, journal.instance);
  }
  const entered = await store.enter({ instance: journal.instance, after: remains.epoch });
  parts.budgets.adopt(entered.adoptedBudgets);
  journal.begin({ databaseId, epoch: entered.epoch });
  await parts.beat();
  left.slices = entered.adopted.length + entered.adoptedBudgets.length;
  if (left.slices + left.promised + left.running === 0) {
    return;
  }
  const done = chargeRemains(parts, entered, remains).then(() =>
    logger.warn(left, "recovered what an earlier process of this core left behind"),
  );
  await Promise.race([done, new Promise<void>((resolve) => clock.after(recoveryMs, resolve))]);
}

async function chargeRemains(
  parts: RecoveryParts,
  { adopted, adoptedBudgets }: Entered,
  { charges, running }: Pick<JournalRemains, "charges" | "running">,
): Promise<void> {
  const { settler, wallets, budgets, debts, journal, clock, logger } = parts;
  const outcomes = await Promise.all(charges.map((charge) => settler.recover(charge)));
  await wallets.closeSlices(adopted.map((slice) => slice.id)); // the charges may still have needed them; what is left pays the others
  const fenced = charges.filter((_, at) => outcomes[at] === "fenced");
  const known = await askSettled(parts, running);
  const settledAt = Math.floor(clock.now());
  const settling = fenced.map((charge) => settler.remake(charge));
  for (const entry of running) {
    const charge = toRecovered(entry, settledAt);
    if (isDue(charge, known.get(runKey(charge)))) {
      settling.push(settler.remake(charge));
    } else {
      journal.forget(charge);
    }
  }
  await Promise.all(settling);
  await budgets.closeSlices(adoptedBudgets); // not before: until then nobody else may lease what these spend
  // A charge that fell short when it was promised may find its money now that the slices are closed.
  await debts.payAll().catch((error: unknown) => logger.warn({ error }, "debts could not be paid yet"));
}

/** True when a run has tokens that no charge covers. stored: the charge of it that the store has. */
function isDue(charge: Charge, stored: StoredCharge | undefined): boolean {
  return stored === undefined
    ? charge.inputTokens !== 0 || charge.outputTokens !== 0
    : toRest(charge, stored) !== undefined;
}

/** Which of the runs have been charged, as far as the store can be asked: it takes no charge twice anyway. */
async function askSettled(
  { store, logger }: Pick<RecoveryParts, "store" | "logger">,
  runs: readonly Run[],
): Promise<Map<string, StoredCharge>> {
  const known = new Map<string, StoredCharge>();
  for (let at = 0; at < runs.length; at += askedAtOnce) {
    try {
      for (const [key, stored] of await store.settled(runs.slice(at, at + askedAtOnce))) {
        known.set(key, stored);
      }
    } catch (error) {
      logger.warn({ error }, "the store could not say what has been charged");
    }
  }
  return known;
}

/** The charge for a request that ran when its core died, still without money. */
function toRecovered(entry: JournalEntry, now: number): Charge {
  const { requestId, runId, accountId, keyId, model, tokens, maxRates, budgetSliceId } = entry;
  const { inputTokens, outputTokens } = tokens;
  const settledAt = Math.min(now, entry.settleBy ?? now);
  return {
    ...{ requestId, runId, accountId, keyId, model, inputTokens, outputTokens },
    ...{ cost: 0, shortfall: 0, status: "recovered", settledAt, lines: [] },
    ...(maxRates === undefined ? {} : { maxRates }),
    ...(budgetSliceId === undefined ? {} : { budgetSliceId }),
  };
}
