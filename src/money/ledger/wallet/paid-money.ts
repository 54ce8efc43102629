import type { PicoUsd } from "../../model/interface.ts";
import type { FundingState } from "../../model/ledger.ts";
import type { Lease } from "../../model/store/wallet.ts";

/** The sum that an account has paid, and whether any of it is left. The account's rate limit depends on both. */
export class PaidMoney {
  #createdAt = 0;
  #total = 0n;
  #left = 0n;
  /** Spent here, as far as the last look does not include it. */
  #spent: PicoUsd = 0;

  get state(): FundingState {
    return {
      createdAt: this.#createdAt,
      paidTotal: this.#total,
      freeOnly: this.#left <= BigInt(this.#spent),
    };
  }

  /** Takes in the store's reply to a lease. `uncommitted`: the cost of charges of paid money that it may not have. */
  look({ createdAt, paidTotal, paidLeft }: Lease, uncommitted: PicoUsd): void {
    this.#createdAt = createdAt;
    this.#total = paidTotal;
    this.#left = paidLeft;
    this.#spent = uncommitted;
  }

  spend(cost: PicoUsd): void {
    this.#spent += cost;
  }

  /** Notes that a charge was void. */
  revert(cost: PicoUsd): void {
    this.#spent -= cost;
  }
}
