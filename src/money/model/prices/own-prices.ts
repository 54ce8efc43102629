import { wholePrice } from "#src/storage/entities/metering/own-prices.ts";
import type { Rates } from "../rates.ts";

/** The prices that a lot locked in when its money came in. */
export interface LockedPrices {
  readonly priceVersion: number;
  /** The id of the account's own prices. Null: the general prices of the version. */
  readonly ownPrices: string | null;
}

/** An account's own prices: a discount on the general prices, and fixed prices of models, which it is not taken off. */
export interface OwnTerms {
  /** In basis points: hundredths of a per cent. */
  readonly discount: number;
  /** By model. */
  readonly fixed: ReadonlyMap<string, Rates>;
}

/**
 * A rate less a discount in basis points. What is taken off is rounded down to a whole pico-USD, so a rate is never
 * less than its exact part.
 */
const lessDiscount = (rate: number, discount: number) => rate - Math.floor((rate * discount) / wholePrice);

/** A model's rates under an account's own terms, from its general rates. */
export function ownRates(general: Rates, { discount, fixed }: OwnTerms, model: string): Rates {
  const { input, output } = general;
  return fixed.get(model) ?? { input: lessDiscount(input, discount), output: lessDiscount(output, discount) };
}

/** The same in SQL, from rows of `price`, `own_prices` and `own_price`, of which the last two may be missing. */
export const ownRate = (side: "input" | "output") =>
  `coalesce(own_price.${side}, price.${side} - price.${side} * coalesce(own_prices.discount, 0) / ${wholePrice})`;
