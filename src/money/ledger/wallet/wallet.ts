import type { ChargeLine } from "../../model/charges/charge.ts";
import type { ChargedTokens, PicoUsd } from "../../model/interface.ts";
import type { FundingState } from "../../model/ledger.ts";
import type { Rates } from "../../model/rates.ts";
import { isPaidFor } from "../../model/spending-order.ts";
import type { Lease, LeasedSlice } from "../../model/store/wallet.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { type BrokenInvariant, invariant } from "../invariant.ts";
import { Integrity } from "./integrity.ts";
import { type PaidCost, type PayingMoney, pay } from "./paid-cost.ts";
import { PaidMoney } from "./paid-money.ts";
import { WalletRates } from "./wallet-rates.ts";
import { isExpired, type TakenPart, WalletSlices } from "./wallet-slices.ts";

/**
 * The money of one account that this core may spend without asking: its open slices, and how much of them running
 * requests hold. A hold is against the wallet, not against a slice. It is computed at the highest rates, so the wallet
 * can pay every hold in whatever order they end.
 *
 * Every move of its money checks the invariants. A broken invariant is a fault of this program: the wallet is broken,
 * reports it once, and does nothing any more. From then on everything that moves its money throws LEDGER_UNAVAILABLE.
 */
export class Wallet {
  readonly accountId: string;
  /** The prices of tokens paid from its money. */
  readonly rates: WalletRates;
  readonly #slices = new WalletSlices();
  readonly #paid = new PaidMoney();
  readonly #integrity: Integrity;
  /** The part of the available money that is promised to running requests. */
  #held: PicoUsd = 0;
  #unleased = 0n;
  #elsewhere = 0n;
  #debt = 0n;
  #owed = 0n;

  /** `onBroken` is called once, with the first broken invariant. */
  constructor(accountId: string, book: PriceBook, onBroken: (broken: BrokenInvariant) => void) {
    this.accountId = accountId;
    this.rates = new WalletRates(book, this.#slices, (ids) => this.lose(ids));
    this.#integrity = new Integrity(onBroken);
  }

  /** Unspent money in open slices. */
  get available(): PicoUsd {
    return this.#slices.available;
  }

  /** Money that running requests hold. */
  get held(): PicoUsd {
    return this.#held;
  }

  /** Money that a new request may hold. Below zero after slices were lost: then nothing covers the holds. */
  get free(): PicoUsd {
    return this.#slices.available - this.#held;
  }

  /** Unspent money that this core could still lease, when it last looked. */
  get unleased(): bigint {
    return this.#unleased;
  }

  /** Unspent money that other cores hold, when this core last looked. */
  get elsewhere(): bigint {
    return this.#elsewhere;
  }

  /** The account's debt, as far as this core knows. Free money pays it before it can be held. */
  get debt(): bigint {
    return this.#debt;
  }

  /** All debts ever noted here, paid ones too. */
  get owed(): bigint {
    return this.#owed;
  }

  /** Whether there is a debt and money that could pay it. */
  get canPayDebt(): boolean {
    return this.#debt > 0n && (this.free > 0 || this.#unleased > 0n);
  }

  get fundingState(): FundingState {
    return this.#paid.state;
  }

  /** Whether an invariant was broken, so that its money is not to be trusted any more. */
  get broken(): boolean {
    return this.#integrity.broken;
  }

  /** Whether nothing is held and no charge is on its way to the store. */
  get idle(): boolean {
    return this.#held === 0 && !this.#slices.all.some((slice) => slice.uncommitted > 0);
  }

  /** Sets money aside for a request. */
  hold(amount: PicoUsd): void {
    this.#integrity.move(() => {
      invariant(amount >= 0 && amount <= this.free, "an admission leaves no less than zero free");
      this.#held += amount;
    });
  }

  /** Frees money that was set aside. */
  unhold(amount: PicoUsd): void {
    this.#integrity.move(() => {
      this.#held -= amount;
      invariant(amount >= 0 && this.#held >= 0, "what is held is never negative");
    });
  }

  /**
   * Takes in the store's reply to a lease. The slices' rates must be known. `owed`: that of the moment when the store was
   * asked. Debts noted since come on top: the reply may not have them.
   */
  add(lease: Lease, owed: bigint): void {
    this.#integrity.move(() => {
      this.#paid.look(lease, this.#slices.uncommittedOf(isOfPaid));
      this.#unleased = lease.unleased;
      this.#elsewhere = lease.elsewhere;
      this.#debt = lease.debt + this.#owed - owed;
      if (lease.slices.length > 0) {
        this.#slices.add(lease.slices);
        this.rates.keepNeeded();
        this.rates.otherMoney();
      }
      this.#slices.retire(lease.retired);
    });
  }

  /** Adds to the account's debt. */
  owe(shortfall: PicoUsd): void {
    this.#debt += BigInt(shortfall);
    this.#owed += BigInt(shortfall);
  }

  /**
   * Takes the cost of tokens out of the free money, in the order of spending. No token costs more than the terms of the
   * request's admission, even when its lot is dearer, because that lot came later. The shortfall is what the money
   * cannot pay, at those terms. The rates must have been loaded.
   */
  charge(model: string, tokens: ChargedTokens, terms: Rates): PaidCost {
    return this.#integrity.move(() => {
      const paid = pay(this.#moneyFor(model), tokens, terms, (slice, cost) => {
        this.#slices.spend(slice, cost);
        if (isOfPaid(slice)) {
          this.#paid.spend(cost);
        }
      });
      this.#putDrainedAside();
      return paid;
    });
  }

  /** The cost that `charge` would come to. */
  priceOf(model: string, tokens: ChargedTokens, terms: Rates): PicoUsd {
    return pay(this.#moneyFor(model), tokens, terms, () => {}).cost;
  }

  #moneyFor(model: string): PayingMoney {
    return { slices: this.#slices.open, budget: Math.max(0, this.free), rates: this.rates, model };
  }

  #putDrainedAside(): void {
    if (this.#slices.settleDown()) {
      this.rates.otherMoney();
    }
  }

  /** Notes that the store has the lines of a charge. */
  committed(lines: readonly ChargeLine[]): void {
    this.#integrity.move(() => {
      for (const line of lines) {
        this.#slices.committed(line);
      }
    });
  }

  /** Takes back lines that the store did not accept. */
  revert(lines: readonly ChargeLine[]): void {
    this.#integrity.move(() => {
      for (const line of lines) {
        if (isOfPaid(this.#slices.revert(line))) {
          this.#paid.revert(line.cost);
        }
      }
      this.rates.otherMoney();
    });
  }

  get sliceIds(): string[] {
    return this.#slices.all.map((slice) => slice.id);
  }

  /**
   * The most that the store may say is unspent in each slice. The store says less when it has charges that are still
   * under way here.
   */
  unspent(): Map<string, PicoUsd> {
    return new Map(this.#slices.all.map((slice) => [slice.id, slice.available + slice.uncommittedCost]));
  }

  /** Lowers slices of which the store has less than this core believed. Returns the total difference. */
  lower(unspent: ReadonlyMap<string, PicoUsd>): PicoUsd {
    return this.#integrity.move(() => {
      const excess = this.#slices.lower(unspent);
      this.#putDrainedAside();
      return excess;
    });
  }

  /** Forgets slices that no longer belong to this core. */
  lose(sliceIds: ReadonlySet<string>): void {
    this.#integrity.move(() => {
      this.#slices.lose(sliceIds);
      this.rates.otherMoney();
    });
  }

  /**
   * Takes out money that nobody holds, from the last lots first: all of it, or only that of the chosen slices. It can
   * be leased again.
   */
  takeFree(choose?: (slice: LeasedSlice) => boolean): TakenPart[] {
    const parts = this.#take(choose ?? (() => true));
    for (const { amount } of parts) {
      this.#unleased += BigInt(amount);
    }
    return parts;
  }

  #take(choose: (slice: LeasedSlice) => boolean): TakenPart[] {
    return this.#integrity.move(() => {
      const parts = this.#slices.take(Math.max(0, this.free), choose);
      this.#putDrainedAside();
      return parts;
    });
  }

  /** Takes out the free money of all slices but the first ones: a wallet need not hold a thousand lots. */
  takeSurplus(): TakenPart[] {
    const { surplus } = this.#slices;
    return surplus.size === 0 ? [] : this.takeFree((slice) => surplus.has(slice));
  }

  /** Takes out the money of expired lots that nobody holds. */
  takeExpired(now: number): TakenPart[] {
    return this.#take((slice) => isExpired(slice, now));
  }

  /** Whether money of an expired lot is here that nobody holds. */
  hasExpired(now: number): boolean {
    return this.free > 0 && this.#slices.haveExpired(now);
  }

  /** Takes out used-up slices whose charges are all stored, to be closed. */
  takeDrained(): string[] {
    return this.#slices.takeDrained();
  }

  /** Takes out all slices, to be closed. Money held stays held, against whatever is leased next. */
  takeAll(): string[] {
    this.rates.otherMoney();
    return this.#slices.takeAll();
  }
}

/** Whether the account pays for a slice's money. Undefined: the slice is not here any more. */
const isOfPaid = (slice: LeasedSlice | undefined): boolean => slice !== undefined && isPaidFor(slice.kind);
