import type { Random } from "../../../../lib/ids/random.ts";
import type { Logger } from "../../../../lib/logger.ts";
import type { Clock } from "../../../../lib/time/clock.ts";
import type { Budget } from "../../../accounts/interface.ts";
import type { PicoUsd } from "../../interface.ts";
import type { Announcements } from "../announcements.ts";
import { callInMs, lookAgainMs } from "../refill/intervals.ts";
import { unavailable } from "../unavailable.ts";
import type { SlicePart } from "../wallet/wallet-store.ts";
import { type AuditedBudgets, BudgetAudit } from "./budget-audit.ts";
import type { BudgetStore } from "./budget-store.ts";
import { BudgetWallet } from "./budget-wallet.ts";
import { windowAt } from "./budget-window.ts";

/** Where cores share a budget, so much is leased at once in advance; a core of its own takes all. */
const sharedSlice = 100_000_000_000;
/** A budget that was not used for this long is given back. */
const idleMs = 3000;

/** Dependencies. */
export interface BudgetCacheParts {
  readonly store: BudgetStore & Announcements;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Free money on its way back to the store. */
interface FreePart extends SlicePart {
  readonly wallet: BudgetWallet;
}

/** The budgets of all keys that use this core, each window by itself. */
export class BudgetCache {
  readonly #parts: BudgetCacheParts;
  readonly #wallets = new Map<string, BudgetWallet>();
  readonly #bySlice = new Map<string, BudgetWallet>();
  /** Slices to be closed, until the store has closed them. */
  readonly #ended = new Set<string>();
  /** Slices of earlier processes, whose charges still count in them. */
  readonly #adopted = new Set<string>();
  readonly #audit: BudgetAudit;

  constructor(parts: BudgetCacheParts) {
    this.#parts = parts;
    const budgets: AuditedBudgets = {
      bySlice: this.#bySlice,
      isEnding: (id) => this.#ended.has(id) || this.#adopted.has(id),
      lose: (wallet) => this.#lose(wallet),
      closeSlices: (ids) => this.closeSlices(ids),
    };
    this.#audit = new BudgetAudit({ store: parts.store, budgets, logger: parts.logger });
  }

  /** The wallet of the window that is open now; one that is new holds the limit and no money. */
  find(budget: Budget, accountId: string): BudgetWallet {
    const { clock, random } = this.#parts;
    const window = windowAt(budget.period, clock.now());
    const key = `${budget.id} ${window.name}`;
    let wallet = this.#wallets.get(key);
    if (wallet === undefined) {
      wallet = new BudgetWallet({
        ...{ budgetId: budget.id, accountId, window, limit: budget.limit },
        sliceId: random.uuid(),
      });
      this.#wallets.set(key, wallet);
      this.#bySlice.set(wallet.sliceId, wallet);
    }
    wallet.usedAt = clock.monotonic();
    return wallet;
  }

  /** The limit that holds from now on: what was leased by another one and is free goes back before more is leased. */
  setLimit(wallet: BudgetWallet, limit: PicoUsd): void {
    if (wallet.limit === limit) {
      return;
    }
    wallet.limit = limit;
    wallet.lookedAt = Number.NEGATIVE_INFINITY;
    const part = takeFree(wallet);
    this.#inBackground(wallet.turns.take(() => this.#giveBack([part])));
  }

  async #giveBack(parts: readonly FreePart[]): Promise<void> {
    const given = parts.filter(({ amount }) => amount > 0);
    try {
      if (given.length > 0) {
        await this.#parts.store.giveBackBudgets(given.map(({ sliceId, amount }) => ({ sliceId, amount })));
      }
    } finally {
      for (const { wallet, sliceId, amount } of given) {
        wallet.returned(sliceId, amount);
      }
    }
  }

  /** What the store has not heard of is cleared up by the next audit. */
  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#parts.logger.warn({ error }, "what is free of a budget could not be given back yet");
    });
  }

  /** The wallet that a charge counts in. Undefined: the store alone knows it. */
  ofSlice(sliceId: string | undefined): BudgetWallet | undefined {
    return sliceId === undefined ? undefined : this.#bySlice.get(sliceId);
  }

  /** Leases what an amount lacks, as far as the budget has it. Throws LEDGER_UNAVAILABLE. */
  async fund(wallet: BudgetWallet, budget: Budget, amount: PicoUsd): Promise<void> {
    await wallet.turns.take(async () => {
      const hasNoMore = wallet.unleased === 0 && this.#parts.clock.monotonic() - wallet.lookedAt < lookAgainMs;
      if (hasNoMore || (wallet.free >= amount && wallet.available > 0)) {
        return;
      }
      try {
        await this.#lease(wallet, budget, Math.max(1, amount - wallet.free));
      } catch (error) {
        this.#parts.logger.error({ error }, "the store could not be asked");
        throw unavailable("The ledger cannot be reached at the moment.", error);
      }
    });
  }

  async #lease(wallet: BudgetWallet, budget: Budget, least: PicoUsd): Promise<void> {
    const { store } = this.#parts;
    const { budgetId, accountId, window } = wallet;
    const most = store.shared ? Math.max(least, sharedSlice) : budget.limit;
    for (;;) {
      const { sliceId } = wallet;
      const lease = await store.acquireBudget({
        ...{ budgetId, accountId, windowName: window.name, windowStart: window.startsAt },
        ...{ limit: budget.limit, sliceId, isMade: wallet.isMade, least, most },
      });
      if (wallet.sliceId !== sliceId) {
        this.#ended.add(sliceId); // it was lost while it was asked for: what came is on no slice of this wallet
        continue;
      }
      wallet.unleased = lease.unleased;
      wallet.elsewhere = lease.elsewhere;
      wallet.lookedAt = this.#parts.clock.monotonic();
      if (lease.granted !== undefined) {
        wallet.add(lease.granted);
        if (lease.granted < least && lease.elsewhere > 0) {
          this.#callIn(wallet);
        }
        return;
      }
      this.#lose(wallet);
    }
  }

  /** Forgets all slices: this core was taken for dead, and others may have spent what they had. */
  loseAll(): void {
    for (const wallet of this.#wallets.values()) {
      this.#ended.add(wallet.sliceId); // if it is this core's after all
      this.#lose(wallet);
    }
  }

  #lose(wallet: BudgetWallet): void {
    this.#bySlice.delete(wallet.sliceId);
    wallet.lose(this.#parts.random.uuid());
    this.#bySlice.set(wallet.sliceId, wallet);
  }

  /** Asks the other cores for what is free of their parts; they hear it, or give it back when they do not use it. */
  #callIn(wallet: BudgetWallet): void {
    const { clock, store, logger } = this.#parts;
    if (clock.monotonic() - wallet.calledInAt < callInMs) {
      return;
    }
    wallet.calledInAt = clock.monotonic();
    store.announce(wallet.accountId).catch((error: unknown) => {
      logger.warn({ error }, "the other cores could not be asked for a budget");
    });
  }

  /** Gives back what nobody needs: all of a window that is over or idle, once nothing runs on it. */
  async tidy(): Promise<void> {
    const { clock } = this.#parts;
    for (const [key, wallet] of this.#wallets) {
      const unused = clock.monotonic() - wallet.usedAt >= idleMs;
      if (unused && wallet.idle && wallet.turns.running === undefined) {
        this.#drop(key, wallet);
      }
    }
    await this.#closeEnded();
  }

  /** Another core says that an account's money is wanted: gives back what of its budgets is free. */
  announced(accountId: string): void {
    const mine = [...this.#wallets.values()].filter(
      (wallet) => wallet.accountId === accountId && wallet.turns.running === undefined,
    );
    this.#inBackground(this.#giveBack(mine.map(takeFree)));
  }

  /** Compares what this core knows with what the store says that it has, and clears up where they differ. */
  audit(): Promise<void> {
    return this.#audit.run();
  }

  /** Keeps the slices of earlier processes open until they are closed by name: their charges come first. */
  adopt(sliceIds: readonly string[]): void {
    for (const id of sliceIds) {
      this.#adopted.add(id);
    }
  }

  /** Closes slices that no wallet has, now or as soon as the store can be reached. */
  async closeSlices(sliceIds: readonly string[]): Promise<void> {
    for (const id of sliceIds) {
      this.#adopted.delete(id);
      this.#ended.add(id);
    }
    await this.#closeEnded().catch((error: unknown) => {
      this.#parts.logger.warn({ error }, "slices could not be closed yet");
    });
  }

  #drop(key: string, wallet: BudgetWallet): void {
    this.#wallets.delete(key);
    this.#bySlice.delete(wallet.sliceId);
    this.#ended.add(wallet.sliceId);
  }

  async #closeEnded(): Promise<void> {
    if (this.#ended.size === 0) {
      return;
    }
    const ids = [...this.#ended];
    await this.#parts.store.closeBudgets(ids);
    for (const id of ids) {
      this.#ended.delete(id);
    }
  }

  /** Gives everything back that no running request needs. */
  async close(): Promise<void> {
    for (const [key, wallet] of this.#wallets) {
      if (wallet.idle) {
        this.#drop(key, wallet);
      }
    }
    await this.#closeEnded();
  }
}

function takeFree(wallet: BudgetWallet): FreePart {
  return { wallet, sliceId: wallet.sliceId, amount: wallet.takeFree() };
}
