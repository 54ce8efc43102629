import type { Logger } from "#lib/logger.ts";
import type { PicoUsd } from "../../model/interface.ts";
import type { BudgetStore, StoredBudgetSlice } from "../../model/store/budget.ts";
import { noId } from "../../model/store/wallet.ts";
import type { CachedBudget } from "./cached-budget.ts";

/** Budgets as the audit sees them. */
export interface AuditedBudgets {
  /** The budgets in memory, by the ids of their slices. */
  readonly bySlice: ReadonlyMap<string, CachedBudget>;
  /** Whether a slice without a wallet is to be closed later anyway. */
  isEnding(sliceId: string): boolean;
  /** Gives a budget a new slice in place of a lost one. */
  lose(cached: CachedBudget): void;
  /** Closes slices that no wallet has. */
  closeSlices(sliceIds: readonly string[]): Promise<void>;
}

/**
 * Compares the open budget slices that the store says this core has with those that the core knows. They differ when
 * the reply to a commit was lost, and when the database has failed over into the past, where closed slices are open
 * again and newer ones were never made. A wallet is judged only while none of its money is being leased or given back.
 */
export class BudgetAudit {
  readonly #store: Pick<BudgetStore, "openBudgetSlices" | "giveBackBudgets">;
  readonly #budgets: AuditedBudgets;
  readonly #logger: Logger;

  constructor(parts: {
    readonly store: Pick<BudgetStore, "openBudgetSlices" | "giveBackBudgets">;
    readonly budgets: AuditedBudgets;
    readonly logger: Logger;
  }) {
    this.#store = parts.store;
    this.#budgets = parts.budgets;
    this.#logger = parts.logger;
  }

  /** Compares all slices and corrects those that differ. */
  async run(): Promise<void> {
    const { bySlice } = this.#budgets;
    const known = new Map(Array.from(bySlice.values(), ({ wallet }) => [wallet.sliceId, wallet.unspent]));
    const stored = await this.#readAll();
    const unknown = stored.filter(({ id }) => !bySlice.has(id) && !this.#budgets.isEnding(id));
    if (unknown.length > 0) {
      await this.#budgets.closeSlices(unknown.map(({ id }) => id));
      this.#logger.warn({ unknown }, "gave back what was leased of budgets without this core's knowledge");
    }
    for (const id of findSuspects(known, stored)) {
      const cached = bySlice.get(id);
      await cached?.alone(() => this.#correct(cached));
    }
  }

  async #readAll(): Promise<StoredBudgetSlice[]> {
    const stored: StoredBudgetSlice[] = [];
    for (let after = noId; ; ) {
      const page = await this.#store.openBudgetSlices({ after });
      const last = page.at(-1);
      if (last === undefined) {
        return stored;
      }
      stored.push(...page);
      after = last.id;
    }
  }

  /** Reads the wallet before it asks the store, so that charges that come meanwhile make no difference. */
  async #correct(cached: CachedBudget): Promise<void> {
    const { wallet } = cached;
    const { sliceId, unspent, isMade } = wallet;
    const stored = (await this.#store.openBudgetSlices({ sliceId }))[0]?.unspent;
    if (wallet.sliceId !== sliceId) {
      return; // it was lost meanwhile, and the wallet knows
    }
    if (stored === undefined) {
      if (isMade) {
        this.#budgets.lose(cached);
        this.#logger.warn({ sliceId }, "this core believed in a part of a budget that it no longer has");
      }
      return;
    }
    const lowered = wallet.lower(stored);
    if (lowered > 0) {
      this.#logger.warn({ sliceId, lowered }, "this core believed in more of a budget than it has");
    }
    const surplus = stored - unspent;
    if (surplus > 0) {
      await this.#store.giveBackBudgets([{ sliceId, amount: surplus }]);
      this.#logger.warn({ sliceId, surplus }, "gave back what was leased of a budget without this core's knowledge");
    }
  }
}

/** Slices of wallets that differ from the store's. Slices whose money is moving may be among them. */
function findSuspects(known: ReadonlyMap<string, PicoUsd>, stored: readonly StoredBudgetSlice[]): string[] {
  const found = new Map(stored.map(({ id, unspent }) => [id, unspent]));
  return [...known].filter(([id, unspent]) => found.get(id) !== unspent).map(([id]) => id);
}
