import type { Logger } from "#lib/logger.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Charge, ChargeLine } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";
import type { MeteringObserver } from "../../model/observer.ts";
import type { BudgetCache } from "../budget/budget-cache.ts";
import type { RunningRequests } from "../running-requests.ts";
import type { WalletCache } from "../wallet/cache/wallet-cache.ts";
import type { Wallet } from "../wallet/wallet.ts";

/**
 * How a charge ended. stored: the store has it. covered: the store has a successor's charge for the same tokens of the run.
 * repeated: the store has another charge of the run, of unknown origin. refused: the charge is among the dead letters.
 */
export type Conclusion = "stored" | "covered" | "repeated" | "refused";

interface Dependencies {
  readonly wallets: WalletCache;
  readonly budgets: BudgetCache;
  readonly requests: RunningRequests;
  readonly journal: Pick<Journal, "forget">;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "charged" | "deadLettered" | "uncharged">;
}

/** Concludes a charge once its outcome is known: tells the wallet, and has the journal forget the run. */
export class Conclusions {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * `run` identifies what was settled; the charge may be of the rest of that run. `isAgain`: it was concluded before, and
   * the store has lost it since; refused then, it has no money that is not told of yet.
   */
  settled(charge: Charge, conclusion: Conclusion, run: Run, isAgain = false): void {
    const { observer, requests, journal } = this.#parts;
    if (conclusion === "stored") {
      this.#tell(charge, (wallet, lines) => wallet.committed(lines));
      if (!isAgain) {
        observer.charged(charge.model, charge.cost, charge.shortfall, charge.status);
      }
      if (charge.shortfall > 0) {
        this.#parts.wallets.owe(charge.accountId, charge.shortfall);
      }
    } else {
      if (conclusion !== "refused" || !isAgain) {
        this.superseded(charge);
      }
      this.#alarm(charge, conclusion);
    }
    requests.charged(charge, run);
    journal.forget(run);
    if (charge.runId !== run.runId) {
      journal.forget(charge); // the rest of the run may have been promised
    }
  }

  #alarm({ model, requestId }: Charge, conclusion: Conclusion): void {
    if (conclusion === "refused") {
      this.#parts.observer.deadLettered(model);
    } else if (conclusion === "repeated") {
      this.#parts.observer.uncharged(model);
      this.#parts.logger.error({ requestId }, "a request was run but not charged");
    }
  }

  /** The store has another charge of the run, so the money of this charge's lines is free again. */
  superseded(charge: Charge): void {
    this.#tell(charge, (wallet, lines) => wallet.revert(lines));
  }

  /** A broken wallet is told nothing any more, so that it does not disturb other accounts. */
  #tell(
    { accountId, lines, cost, budgetSliceId }: Charge,
    tell: (wallet: Wallet, lines: readonly ChargeLine[]) => void,
  ): void {
    this.#parts.budgets.ofSlice(budgetSliceId)?.concluded(cost);
    const wallet = this.#parts.wallets.find(accountId)?.wallet;
    if (wallet === undefined || wallet.broken) {
      return;
    }
    try {
      tell(wallet, lines);
    } catch (error) {
      if (!wallet.broken) {
        throw error;
      }
    }
  }
}
