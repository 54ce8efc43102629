import type { PicoUsd } from "../../interface.ts";
import type { FundingState } from "../interface.ts";
import type { Lease } from "./wallet-store.ts";

/** The sum that an account has paid, and whether anything of it is left: its rate limit depends on both. */
export class PaidMoney {
  #createdAt = 0;
  #total = 0n;
  #left = 0n;
  /** Spent here since the last look, as far as it does not know of it. */
  #spent: PicoUsd = 0;
  /** Charges of paid money that are not yet known to be in the store. */
  #uncommitted: PicoUsd = 0;

  get state(): FundingState {
    return {
      createdAt: this.#createdAt,
      paidTotal: this.#total,
      freeOnly: this.#left <= BigInt(this.#spent),
    };
  }

  /** Takes in what a look into the store brought. */
  look({ createdAt, paidTotal, paidLeft }: Lease): void {
    this.#createdAt = createdAt;
    this.#total = paidTotal;
    this.#left = paidLeft;
    this.#spent = this.#uncommitted;
  }

  spend(cost: PicoUsd): void {
    this.#spent += cost;
    this.#uncommitted += cost;
  }

  committed(cost: PicoUsd): void {
    this.#uncommitted -= cost;
  }

  /** Notes that a cost was none; to be called after `committed`. */
  revert(cost: PicoUsd): void {
    this.#spent -= cost;
  }
}
