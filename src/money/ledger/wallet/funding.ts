import type { Clock } from "#lib/time/clock.ts";
import type { ChargedTokens } from "../../model/interface.ts";
import type { Rates } from "../../model/rates.ts";
import type { CachedWallet } from "./cache/cached-wallet.ts";
import { costOf } from "./split.ts";
import type { Wallet } from "./wallet.ts";

/** The rates at which tokens are to be funded. */
export interface Terms {
  /** Undefined: the highest rates of the wallet's money, or `otherwise` when there is none. */
  readonly rates?: Rates | undefined;
  /** The rates of an account without money. */
  readonly otherwise: () => Rates;
}

/** Whether the free money covers the worst case. Even free tokens need an account with money. */
export function fits(wallet: Wallet, rates: Rates, tokens: ChargedTokens): boolean {
  return wallet.available > 0 && costOf(tokens, rates) <= wallet.free;
}

/** Leases the money that tokens lack, as far as there is any. Returns the rates at which they are to be paid. */
export async function fund(
  cached: CachedWallet,
  model: string,
  wanted: ChargedTokens,
  { terms, clock }: { readonly terms: Terms; readonly clock: Pick<Clock, "now"> },
): Promise<Rates> {
  const { wallet } = cached;
  for (;;) {
    if (wallet.hasExpired(clock.now())) {
      await cached.returnExpired();
    }
    const now = wallet.rates.max(model);
    const rates = terms.rates ?? now;
    if (now === undefined || rates === undefined) {
      await wallet.rates.addModel(model);
    } else if (fits(wallet, rates, wanted)) {
      return rates;
    } else if (!(await cached.lease(Math.max(1, costOf(wanted, rates) - wallet.free)))) {
      return terms.rates ?? (wallet.available > 0 ? rates : terms.otherwise());
    }
  }
}
