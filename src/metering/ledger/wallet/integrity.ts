import { BrokenInvariant } from "../invariant.ts";
import { unavailable } from "../unavailable.ts";

/** Watches over the moves of one wallet's money: after the first that can never be, there are no more. */
export class Integrity {
  readonly #onBroken: (broken: BrokenInvariant) => void;
  #broken: BrokenInvariant | undefined;

  /** Is told once when something turns out that can never be. */
  constructor(onBroken: (broken: BrokenInvariant) => void) {
    this.#onBroken = onBroken;
  }

  /** Whether a fault has been found. */
  get broken(): boolean {
    return this.#broken !== undefined;
  }

  /** Moves money, unless a fault has been found; finds it out when there is one. Throws LEDGER_UNAVAILABLE. */
  move<T>(run: () => T): T {
    if (this.#broken !== undefined) {
      throw unavailable("The money of this account is being looked into.", this.#broken);
    }
    try {
      return run();
    } catch (error) {
      if (!(error instanceof BrokenInvariant)) {
        throw error;
      }
      this.#broken = error;
      this.#onBroken(error);
      throw unavailable("The money of this account is being looked into.", error);
    }
  }
}
