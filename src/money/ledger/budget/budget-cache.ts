import type { Outage } from "#lib/errors/outage.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Budget } from "#src/wire/principal.ts";
import type { Announcements } from "../../model/announcements.ts";
import { windowAt } from "../../model/budget-window.ts";
import type { BudgetStore } from "../../model/store/budget.ts";
import { EndedSlices } from "../refill/ended-slices.ts";
import { BudgetAudit } from "./budget-audit.ts";
import { BudgetWallet } from "./budget-wallet.ts";
import {
  CachedBudget,
  type Dependencies as CachedBudgetDependencies,
  notGivenBack,
  takeFree,
} from "./cached-budget.ts";

interface Dependencies {
  readonly store: BudgetStore & Announcements;
  /** Tells that the store cannot be asked. */
  readonly outage: Outage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The budgets of all keys that use this core, one for each window. */
export class BudgetCache {
  readonly #parts: Dependencies;
  readonly #cachedParts: CachedBudgetDependencies;
  readonly #budgets = new Map<string, CachedBudget>();
  readonly #bySlice = new Map<string, CachedBudget>();
  readonly #ended: EndedSlices;
  /** Slices of earlier processes, to which charges of those processes still count. */
  readonly #adopted = new Set<string>();
  readonly #audit: BudgetAudit;

  constructor(parts: Dependencies) {
    const { store, outage, clock, logger } = parts;
    this.#parts = parts;
    this.#ended = new EndedSlices((ids) => store.closeBudgets(ids), logger);
    this.#cachedParts = {
      store,
      outage,
      clock,
      logger,
      replaceSlice: (cached) => this.#replaceSlice(cached),
      endSlice: (id) => this.#ended.add([id]),
    };
    const budgets = {
      bySlice: this.#bySlice,
      isEnding: (id: string) => this.#ended.ids.has(id) || this.#adopted.has(id),
      lose: (cached: CachedBudget) => this.#lose(cached),
      closeSlices: (ids: readonly string[]) => this.closeSlices(ids),
    };
    this.#audit = new BudgetAudit({ store, budgets, logger });
  }

  /** The window that is open now. A new one has the limit and no money. */
  find(budget: Budget, accountId: string): CachedBudget {
    const { clock, random } = this.#parts;
    const window = windowAt(budget.period, clock.now());
    const key = `${budget.id} ${window.name}`;
    let cached = this.#budgets.get(key);
    if (cached === undefined) {
      const facts = { budgetId: budget.id, accountId, window, limit: budget.limit };
      cached = new CachedBudget(new BudgetWallet({ ...facts, sliceId: random.uuid() }), this.#cachedParts);
      this.#budgets.set(key, cached);
      this.#bySlice.set(cached.wallet.sliceId, cached);
    }
    cached.used();
    return cached;
  }

  /** What this core has of each window. */
  get parts(): readonly BudgetWallet[] {
    return Array.from(this.#budgets.values(), ({ wallet }) => wallet);
  }

  /** The wallet that a charge counts in. Undefined: only the store knows the slice. */
  ofSlice(sliceId: string | undefined): BudgetWallet | undefined {
    return sliceId === undefined ? undefined : this.#bySlice.get(sliceId)?.wallet;
  }

  /** Gives up all slices: this core was taken for dead, and others may have spent the money in them. */
  loseAll(): void {
    for (const cached of this.#budgets.values()) {
      this.#ended.add([cached.wallet.sliceId]); // closed in the store if it is still this core's
      this.#lose(cached);
    }
  }

  #lose(cached: CachedBudget): void {
    this.#replaceSlice(cached);
    cached.doubt();
  }

  #replaceSlice(cached: CachedBudget): void {
    this.#bySlice.delete(cached.wallet.sliceId);
    cached.wallet.lose(this.#parts.random.uuid());
    this.#bySlice.set(cached.wallet.sliceId, cached);
  }

  /** Gives back money that nobody needs: all of a window that is over or idle, once nothing runs on it. */
  async tidy(): Promise<void> {
    for (const [key, cached] of this.#budgets) {
      if (cached.unused) {
        this.#drop(key, cached);
      }
    }
    await this.#ended.close();
  }

  /**
   * Another core wants an account's money, or has changed a limit of its keys: gives back the free money of its
   * budgets. Undefined: this may concern any account.
   */
  announced(accountId: string | undefined): void {
    const { store, logger } = this.#parts;
    const isMeant = ({ wallet }: CachedBudget) => accountId === undefined || wallet.accountId === accountId;
    const mine = [...this.#budgets.values()].filter((cached) => cached.still && isMeant(cached));
    const wallets = mine.map(({ wallet }) => wallet);
    const giveBack = takeFree(store, wallets);
    giveBack().catch((error: unknown) => logger.warn({ error }, notGivenBack));
  }

  /** Compares this core's slices with the store's, and corrects differences. */
  audit(): Promise<void> {
    return this.#audit.run();
  }

  /** Keeps the slices of earlier processes open until they are closed by id: their charges come first. */
  adopt(sliceIds: readonly string[]): void {
    for (const id of sliceIds) {
      this.#adopted.add(id);
    }
  }

  /** Closes slices that no wallet has, now or as soon as the store can be reached. */
  closeSlices(sliceIds: readonly string[]): Promise<void> {
    for (const id of sliceIds) {
      this.#adopted.delete(id);
    }
    return this.#ended.closeSoon(sliceIds);
  }

  #drop(key: string, { wallet }: CachedBudget): void {
    this.#budgets.delete(key);
    this.#bySlice.delete(wallet.sliceId);
    this.#ended.add([wallet.sliceId]);
  }

  /** Gives back everything that no running request needs. */
  async close(): Promise<void> {
    for (const [key, cached] of this.#budgets) {
      if (cached.wallet.idle) {
        this.#drop(key, cached);
      }
    }
    await this.#ended.close();
  }
}
