import type { BudgetWindow } from "../../model/budget-window.ts";
import type { PicoUsd } from "../../model/interface.ts";
import type { BudgetLease } from "../../model/store/budget.ts";
import { invariant } from "../invariant.ts";

/** The part of one window of a key's budget that this core may spend without asking. */
export class BudgetWallet {
  readonly budgetId: string;
  readonly accountId: string;
  readonly window: BudgetWindow;
  /** The limit under which its money was leased. */
  limit: PicoUsd;
  #sliceId: string;
  #isMade = false;
  #unleased: PicoUsd = 0;
  #elsewhere: PicoUsd = 0;
  #available: PicoUsd = 0;
  #held: PicoUsd = 0;
  /** The number of charges that the store is not known to have. */
  #uncommitted = 0;
  /** The cost of those charges. */
  #uncommittedCost: PicoUsd = 0;
  /** Money on its way back to the store. */
  #returning: PicoUsd = 0;

  constructor(of: { budgetId: string; accountId: string; window: BudgetWindow; limit: PicoUsd; sliceId: string }) {
    this.limit = of.limit;
    this.budgetId = of.budgetId;
    this.accountId = of.accountId;
    this.window = of.window;
    this.#sliceId = of.sliceId;
  }

  /** The id of its slice in the store. It gets a new one when the slice is lost. */
  get sliceId(): string {
    return this.#sliceId;
  }

  /** True once the store has answered for the slice. */
  get isMade(): boolean {
    return this.#isMade;
  }

  /** Money of the window that no core had leased or spent when this core last looked. */
  get unleased(): PicoUsd {
    return this.#unleased;
  }

  /** Money that other cores had leased and not spent when this core last looked. */
  get elsewhere(): PicoUsd {
    return this.#elsewhere;
  }

  /** Leased by this core and not spent. */
  get available(): PicoUsd {
    return this.#available;
  }

  /** Money that a new request may hold. Below zero after an engine exceeded its cap, or after the slice was lost. */
  get free(): PicoUsd {
    return this.#available - this.#held;
  }

  /**
   * The most that the store may say is unspent in the slice. The store says less when it has charges that this core
   * does not know to be stored.
   */
  get unspent(): PicoUsd {
    return this.#available + this.#uncommittedCost + this.#returning;
  }

  /** True when no request holds its money and no charge is on its way to the store. */
  get idle(): boolean {
    return this.#held === 0 && this.#uncommitted === 0;
  }

  /** Adds the store's reply to a lease, unless the slice was closed or forgotten there. */
  add({ granted, unleased, elsewhere }: BudgetLease): void {
    this.#unleased = unleased;
    this.#elsewhere = elsewhere;
    if (granted !== undefined) {
      this.#isMade = true;
      this.#available += granted;
    }
  }

  /** Takes the free money out, to be given back. `returned` must follow. The money can be leased again. */
  takeFree(): PicoUsd {
    const free = Math.max(0, this.free);
    this.#available -= free;
    this.#unleased += free;
    this.#returning += free;
    return free;
  }

  /** Money taken out of a slice has gone back, or nobody knows whether it has. */
  returned(sliceId: string, amount: PicoUsd): void {
    if (sliceId === this.#sliceId) {
      this.#returning -= amount;
    }
  }

  hold(amount: PicoUsd): void {
    invariant(amount >= 0 && amount <= this.free, "an admission leaves no less than zero of a budget free");
    this.#held += amount;
  }

  unhold(amount: PicoUsd): void {
    this.#held -= amount;
    invariant(amount >= 0 && this.#held >= 0, "what is held of a budget is never negative");
  }

  /** Counts the cost of a charge. `concluded` must follow. */
  spend(cost: PicoUsd): void {
    this.#available = Math.max(0, this.#available - cost);
    this.#uncommitted++;
    this.#uncommittedCost += cost;
  }

  /** The store has a charge, or the charge was void. The cost of a void charge comes back when the slice is closed. */
  concluded(cost: PicoUsd): void {
    this.#uncommitted = Math.max(0, this.#uncommitted - 1);
    this.#uncommittedCost = Math.max(0, this.#uncommittedCost - cost);
  }

  /** The store has no more than this unspent in the slice. Returns how much more this core believed in. */
  lower(unspent: PicoUsd): PicoUsd {
    const excess = Math.max(0, this.#available - Math.max(0, unspent));
    this.#available -= excess;
    return excess;
  }

  /** The slice no longer belongs to this core. Money held stays held, against whatever is leased next. */
  lose(sliceId: string): void {
    this.#available = 0;
    this.#uncommitted = 0; // those charges count in the lost slice
    this.#uncommittedCost = 0;
    this.#returning = 0;
    this.#sliceId = sliceId;
    this.#isMade = false;
  }
}
