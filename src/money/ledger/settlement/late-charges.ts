import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { PicoUsd } from "../../model/interface.ts";
import type { MeteringObserver } from "../../model/observer.ts";
import type { PriceList } from "../../prices/price-list.ts";
import type { BudgetCache } from "../budget/budget-cache.ts";
import type { CachedWallet } from "../wallet/cache/cached-wallet.ts";
import type { WalletCache } from "../wallet/cache/wallet-cache.ts";
import { fund } from "../wallet/funding.ts";
import { costOf } from "../wallet/split.ts";
import { termsWithin } from "../wallet/terms-within.ts";

interface Dependencies {
  readonly wallets: WalletCache;
  readonly budgets: BudgetCache;
  readonly prices: Pick<PriceList, "last">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "fenced">;
}

/** Makes charges for tokens without a hold: the account's free money pays, and the account owes the rest. */
export class LateCharges {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Makes a charge anew from the money that is left, for the same tokens, when its slices are lost or it never had any.
   * It costs at most what its caller has been told by the moment that it is made. `isConcluded`: its budget was told of its
   * end before. Throws ACCOUNT_NOT_FOUND, MODEL_NOT_FOUND, INVALID_ARGUMENT, LEDGER_UNAVAILABLE.
   */
  async renew(charge: Charge, readTold: () => PicoUsd | undefined, isConcluded = false): Promise<Charge> {
    const { wallets, budgets, logger, observer } = this.#parts;
    if (charge.lines.length > 0) {
      observer.fenced();
      logger.warn({ requestId: charge.requestId }, "a charge came after its slices were lost");
    }
    const cached = await wallets.open(charge.accountId);
    const lost = charge.lines.map((line) => line.sliceId);
    wallets.lose(cached, lost);
    const renewed = await this.#make(cached, charge, readTold);
    if (!isConcluded) {
      budgets.ofSlice(charge.budgetSliceId)?.concluded(charge.cost); // once, however many attempts that took
    }
    return renewed;
  }

  /** Makes a charge for the same tokens. Throws as `renew`. */
  async make(charge: Charge): Promise<Charge> {
    return this.#make(await this.#parts.wallets.open(charge.accountId), charge, () => charge.told);
  }

  /** Charges the tokens at the terms of their admission, or at lower ones when less was told. */
  async #make(cached: CachedWallet, charge: Charge, readTold: () => PicoUsd | undefined): Promise<Charge> {
    const { clock, prices, budgets } = this.#parts;
    const terms = { rates: charge.maxRates, otherwise: () => prices.last(charge.model) };
    const admitted = await fund(cached, charge.model, charge, { terms, clock });
    if (!Number.isSafeInteger(costOf(charge, admitted))) {
      throw failure(Reason.INVALID_ARGUMENT, "The tokens cost more than one receipt can hold.");
    }
    const { wallet } = cached;
    const told = readTold();
    const maxRates =
      told === undefined
        ? admitted
        : termsWithin(told, charge, admitted, (rates) => wallet.priceOf(charge.model, charge, rates));
    const paid = wallet.charge(charge.model, charge, maxRates);
    budgets.ofSlice(charge.budgetSliceId)?.spend(paid.cost);
    return { ...charge, ...(told !== undefined && { told }), maxRates, ...paid };
  }
}
