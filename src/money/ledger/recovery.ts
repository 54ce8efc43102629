import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Journal, JournalEntry, JournalRemains } from "../journal/journal.ts";
import { type Charge, withTold } from "../model/charges/charge.ts";
import type { Run } from "../model/charges/run.ts";
import type { StoredCharge } from "../model/store/charge.ts";
import type { Entered } from "../model/store/core.ts";
import type { LedgerStore } from "../model/store/ledger.ts";
import type { BudgetCache } from "./budget/budget-cache.ts";
import { awaitPredecessors } from "./core/predecessors.ts";
import { toRest } from "./settlement/settler/run-rest.ts";
import type { Settler } from "./settlement/settler/settler.ts";
import type { WalletCache } from "./wallet/cache/wallet-cache.ts";
import type { Debts } from "./wallet/debts.ts";

/** The longest that a start waits for recovery. The rest is charged while requests run. */
const recoveryMs = 10_000;
/** The most runs in one query to the store. */
const askedAtOnce = 1000;

interface Dependencies {
  readonly store: LedgerStore;
  readonly journal: Journal;
  readonly settler: Pick<Settler, "recover" | "remake">;
  readonly wallets: Pick<WalletCache, "adopt" | "closeSlices">;
  readonly budgets: Pick<BudgetCache, "adopt" | "closeSlices">;
  readonly debts: Pick<Debts, "payAll">;
  /** Sends the core's first heartbeat. */
  readonly beat: () => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Charges requests that were promised or running when an earlier process died, and takes its slices back. Each record
 * is handled alone: a charge that cannot be made goes to the dead letters, and one that the store does not take yet is
 * tried again while requests run.
 */
export async function recover(parts: Dependencies): Promise<void> {
  const { store, journal, clock, logger } = parts;
  const databaseId = await store.identify();
  const remains = await journal.read(databaseId);
  const left = { slices: 0, promised: remains.charges.length, running: remains.running.length };
  if (left.promised + left.running > 0) {
    await awaitPredecessors({ store, clock, logger }, journal.instance);
  }
  const entered = await store.enter({ instance: journal.instance, after: remains.epoch });
  parts.wallets.adopt(entered.adopted);
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
  parts: Dependencies,
  { adopted, adoptedBudgets }: Entered,
  { charges: promised, running }: Pick<JournalRemains, "charges" | "running">,
): Promise<void> {
  const { settler, wallets, budgets, debts, journal, clock, logger } = parts;
  const charges = promised.map(withTold);
  const outcomes = await Promise.all(charges.map((charge) => settler.recover(charge)));
  await wallets.closeSlices(adopted.map((slice) => slice.id)); // after the charges that may need them; the rest pays the others
  const fenced = charges.filter((_, at) => outcomes[at] === "fenced");
  const known = await askSettled(parts, running);
  const settledAt = Math.floor(clock.now());
  const settling = fenced.map((charge) => settler.remake(charge));
  for (const entry of running) {
    const charge = toRecovered(entry, settledAt);
    if (isDue(charge, known.get(charge.runId))) {
      settling.push(settler.remake(charge));
    } else {
      journal.forget(charge);
    }
  }
  await Promise.all(settling);
  await budgets.closeSlices(adoptedBudgets); // last: nobody else may lease this money before
  // A charge that fell short when it was promised may find its money now that the slices are closed.
  await debts.payAll().catch((error: unknown) => logger.warn({ error }, "debts could not be paid yet"));
}

/** True when a run has tokens that no charge covers. `stored`: the store's charge of the run. */
function isDue(charge: Charge, stored: StoredCharge | undefined): boolean {
  return stored === undefined
    ? charge.inputTokens !== 0 || charge.outputTokens !== 0
    : toRest(charge, stored) !== undefined;
}

/** The stored charges of the runs, as far as the store answers. The store takes no charge twice anyway. */
async function askSettled(
  { store, logger }: Pick<Dependencies, "store" | "logger">,
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

/** The charge for a request that ran when its core died. No money is assigned yet. */
function toRecovered(entry: JournalEntry, now: number): Charge {
  const { requestId, runId, accountId, keyId, model, tokens, maxRates, budgetSliceId } = entry;
  const { inputTokens, outputTokens } = tokens;
  const settledAt = Math.min(Math.max(now, entry.settleFrom ?? now), entry.settleBy ?? now);
  return {
    requestId,
    runId,
    accountId,
    keyId,
    model,
    inputTokens,
    outputTokens,
    cost: 0,
    shortfall: 0,
    status: "recovered",
    settledAt,
    lines: [],
    ...(maxRates === undefined ? {} : { maxRates }),
    ...(budgetSliceId === undefined ? {} : { budgetSliceId }),
    ...(entry.labels === undefined ? {} : { labels: entry.labels }),
  };
}
