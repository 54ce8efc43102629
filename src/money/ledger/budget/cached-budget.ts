import type { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announcements } from "../../model/announcements.ts";
import { toWindowRequest } from "../../model/budget-window.ts";
import type { PicoUsd } from "../../model/interface.ts";
import type { BudgetStore } from "../../model/store/budget.ts";
import { idleMs, idleSharedMs } from "../refill/intervals.ts";
import { Refill, type RefillSource } from "../refill/refill.ts";
import type { BudgetWallet } from "./budget-wallet.ts";

/** Money leased in advance where cores share a budget, in pico-USD. A core that is alone leases the whole limit. */
const sharedSlice = 100_000_000_000;

export interface Dependencies {
  readonly store: BudgetStore & Announcements;
  /** Gives the budget a new slice in place of a lost one. */
  readonly replaceSlice: (cached: CachedBudget) => void;
  /** Has a slice closed that no budget has. */
  readonly endSlice: (sliceId: string) => void;
  /** Tells that the store cannot be asked. */
  readonly outage: Outage;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One window of a budget, with its refill. */
export class CachedBudget {
  readonly wallet: BudgetWallet;
  readonly #parts: Dependencies;
  readonly #refill: Refill;

  constructor(wallet: BudgetWallet, parts: Dependencies) {
    const { store, outage, clock, logger } = parts;
    this.wallet = wallet;
    this.#parts = parts;
    const source: RefillSource = {
      growsUnheard: true, // slices are closed without an announcement: those of idle cores, and of an earlier process
      wish: (least) => (store.shared ? Math.max(least, sharedSlice) : wallet.limit),
      clear: async () => {}, // a slice keeps its id when a reply is lost: it is extended, and audited
      lease: (least, most) => this.#refill.move(() => this.#lease(least, most)),
      lost: () => {},
    };
    this.#refill = new Refill(wallet, source, { announcements: store, outage, clock, logger });
  }

  /** True when the store neither moves its money nor is about to. */
  get still(): boolean {
    return this.#refill.idle;
  }

  /** True when nothing has run on it for so long that its money is better given back. */
  get unused(): boolean {
    const { store, clock } = this.#parts;
    const { unleased, window, idle } = this.wallet;
    const isPoor = store.shared && unleased === 0;
    const isOver = window.endsAt !== undefined && window.endsAt <= clock.now();
    return this.#refill.sinceUse >= (isPoor || isOver ? idleSharedMs : idleMs) && idle && this.still;
  }

  used(): void {
    this.#refill.used();
  }

  /** Notes that the budget's money has changed, or may have. */
  doubt(): void {
    this.#refill.doubt();
  }

  /** Runs a function while nothing else moves the budget's money in the store. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    return this.#refill.alone(run);
  }

  /**
   * Sets the limit that holds from now on. Free money leased under another limit goes back before more is leased, and what
   * requests hold of a higher one once they hold it no longer.
   */
  setLimit(limit: PicoUsd): void {
    if (this.wallet.limit !== limit) {
      this.wallet.setLimit(limit);
      this.doubt();
    } else if (!this.wallet.isOverdue) {
      return;
    }
    const giveBack = takeFree(this.#parts.store, [this.wallet]);
    this.#refill.inBackground(this.alone(giveBack), notGivenBack);
  }

  /** Leases the part of an amount that is lacking, as far as the budget has it. Throws LEDGER_UNAVAILABLE. */
  async fund(amount: PicoUsd): Promise<void> {
    const { wallet } = this;
    while (wallet.free < amount || wallet.available <= 0) {
      if (!(await this.#refill.lease(Math.max(1, amount - wallet.free)))) {
        return;
      }
    }
  }

  /** Returns whether any money came. */
  async #lease(least: PicoUsd, most: PicoUsd): Promise<boolean> {
    const { store, replaceSlice, endSlice } = this.#parts;
    const { wallet } = this;
    const { budgetId, accountId, window } = wallet;
    for (;;) {
      const { sliceId, granted: size, step } = wallet.tellSize();
      const lease = await store.acquireBudget({
        ...toWindowRequest(budgetId, window),
        accountId,
        limit: wallet.limit,
        sliceId,
        size,
        step,
        isMade: wallet.isMade,
        least,
        most,
      });
      if (wallet.sliceId !== sliceId) {
        endSlice(sliceId); // the slice was lost during the request, so the leased money is in no slice of this wallet
        continue;
      }
      const came = wallet.add(lease, size);
      if (lease.size !== undefined) {
        return came > 0;
      }
      replaceSlice(this);
    }
  }
}

/** The log message when money could not be given back. The next audit corrects that. */
export const notGivenBack = "what is free of a budget could not be given back yet";

/** Takes the free money out of budgets. Returns the function that gives it back, all in one statement. */
export function takeFree(
  store: Pick<BudgetStore, "giveBackBudgets">,
  wallets: readonly BudgetWallet[],
): () => Promise<void> {
  const given = wallets
    .map((wallet) => ({ wallet, sliceId: wallet.sliceId, amount: wallet.takeFree() }))
    .filter(({ amount }) => amount > 0);
  return async () => {
    try {
      const mine = given.filter(({ wallet, sliceId }) => wallet.sliceId === sliceId);
      if (mine.length > 0) {
        await store.giveBackBudgets(mine.map(({ wallet }) => wallet.tellSize()));
      }
    } finally {
      for (const { wallet, sliceId, amount } of given) {
        wallet.returned(sliceId, amount);
      }
    }
  };
}
