import type { BudgetWindow } from "../../model/budget-window.ts";
import type { PicoUsd } from "../../model/interface.ts";
import type { BudgetLease, SmallerBudgetSlice } from "../../model/store/budget.ts";
import { invariant } from "../invariant.ts";

/** The part of one window of a key's budget that this core may spend without asking. */
export class BudgetWallet {
  readonly budgetId: string;
  readonly accountId: string;
  readonly window: BudgetWindow;
  #limit: PicoUsd;
  #sliceId: string;
  #isMade = false;
  /** The slice's size as this core knows it, and the number of sizes that it has given it. */
  #size: PicoUsd = 0;
  #step = 0;
  #unleased: PicoUsd = 0;
  #elsewhere: PicoUsd = 0;
  #available: PicoUsd = 0;
  #held: PicoUsd = 0;
  /** How much of what is held was leased under a higher limit, and how much of that is held no longer. */
  #heldBefore: PicoUsd = 0;
  #overdue: PicoUsd = 0;
  /** The number of charges that the store is not known to have. */
  #uncommitted = 0;
  /** The cost of those charges. */
  #uncommittedCost: PicoUsd = 0;
  /** Money on its way back to the store. */
  #returning: PicoUsd = 0;

  constructor(of: { budgetId: string; accountId: string; window: BudgetWindow; limit: PicoUsd; sliceId: string }) {
    this.#limit = of.limit;
    this.budgetId = of.budgetId;
    this.accountId = of.accountId;
    this.window = of.window;
    this.#sliceId = of.sliceId;
  }

  /** The limit under which its money was leased. */
  get limit(): PicoUsd {
    return this.#limit;
  }

  /** Sets the limit that holds from now on. Under a lower one, what is held now is to go back once it is held no longer. */
  setLimit(limit: PicoUsd): void {
    this.#heldBefore = limit < this.#limit ? this.#held : this.#heldBefore;
    this.#limit = limit;
  }

  /** Whether money is here that goes back before anything of it is held again. */
  get isOverdue(): boolean {
    return this.#overdue > 0;
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
    return this.#available - this.#held - this.#overdue;
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

  /** The slice's size and the next step, to be told to the store now: whatever was told before is then history. */
  tellSize(): SmallerBudgetSlice {
    return { sliceId: this.#sliceId, granted: this.#size, step: ++this.#step };
  }

  /**
   * Adds the store's reply to a lease that told it this size, unless the slice was closed or forgotten there. Returns
   * how much came.
   */
  add({ size, unleased, elsewhere }: BudgetLease, told: PicoUsd): PicoUsd {
    this.#unleased = unleased;
    this.#elsewhere = elsewhere;
    if (size === undefined) {
      return 0;
    }
    this.#isMade = true;
    const came = size - told;
    this.#size = Math.max(0, this.#size + came);
    this.#available = Math.max(0, this.#available + came);
    return came;
  }

  /** Takes on the size with which the store has no more unspent than this core knows of. */
  resize(granted: PicoUsd): void {
    this.#size = granted;
  }

  /** Takes the free money out, to be given back. `returned` must follow. The money can be leased again. */
  takeFree(): PicoUsd {
    const free = Math.max(0, this.#available - this.#held);
    this.#overdue = 0;
    this.#available -= free;
    this.#size -= free;
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
    const before = Math.min(amount, this.#heldBefore);
    this.#heldBefore -= before;
    this.#overdue += before;
    this.#held -= amount;
    invariant(amount >= 0 && this.#held >= 0, "what is held of a budget is never negative");
  }

  /** Counts the cost of a charge. `concluded` must follow, once. */
  spend(cost: PicoUsd): void {
    if (cost === 0) {
      return; // nothing of the slice waits for it
    }
    this.#available = Math.max(0, this.#available - cost);
    this.#overdue = Math.max(0, this.#overdue - cost);
    this.#uncommitted++;
    this.#uncommittedCost += cost;
  }

  /**
   * Takes the cost of a charge out that counts in a slice that was lost: what was leased since then covers its hold, too. The store
   * is told the smaller size with the next one.
   */
  spendElsewhere(cost: PicoUsd): void {
    this.lower(this.#available - cost);
  }

  /** The store has a charge, or the charge was void. The cost of a void charge comes back when the slice is closed. */
  concluded(cost: PicoUsd): void {
    if (cost === 0) {
      return;
    }
    this.#uncommitted = Math.max(0, this.#uncommitted - 1);
    this.#uncommittedCost = Math.max(0, this.#uncommittedCost - cost);
  }

  /** The store has no more than this unspent in the slice. Returns how much more this core believed in. */
  lower(unspent: PicoUsd): PicoUsd {
    const excess = Math.max(0, this.#available - Math.max(0, unspent));
    this.#available -= excess;
    this.#size -= excess;
    return excess;
  }

  /** The slice no longer belongs to this core. Money held stays held, against whatever is leased next. */
  lose(sliceId: string): void {
    this.#available = 0;
    this.#overdue = 0;
    this.#heldBefore = 0;
    this.#uncommitted = 0; // those charges count in the lost slice
    this.#uncommittedCost = 0;
    this.#returning = 0;
    this.#sliceId = sliceId;
    this.#isMade = false;
    this.#size = 0;
    this.#step = 0;
  }
}
