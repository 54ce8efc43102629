import { unavailable } from "../../model/unavailable.ts";
import { BrokenInvariant } from "../invariant.ts";

/** Guards the moves of one wallet's money: after the first broken invariant nothing moves any more. */
export class Integrity {
  readonly #onBroken: (broken: BrokenInvariant) => void;
  #broken: BrokenInvariant | undefined;

  /** `onBroken` is called once, with the first broken invariant. */
  constructor(onBroken: (broken: BrokenInvariant) => void) {
    this.#onBroken = onBroken;
  }

  /** Whether an invariant was broken. */
  get broken(): boolean {
    return this.#broken !== undefined;
  }

  /**
   * Moves money, unless an invariant was broken before. Throws LEDGER_UNAVAILABLE then, and when this move breaks one.
   */
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
