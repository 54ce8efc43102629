import type { PicoUsd } from "../interface.ts";
import { leastTokens } from "../ledger/admission/admit-short.ts";
import type { PriceList } from "../prices/price-list.ts";

/**
 * Below this the live price of some model refuses requests. Models: the only ones that count; undefined: all that are
 * served.
 */
export function leastCharge(prices: Pick<PriceList, "list">, models?: readonly string[]): PicoUsd {
  let dearest = 0;
  for (const { model, live } of prices.list()) {
    if (models === undefined || models.includes(model)) {
      dearest = Math.max(dearest, live.input, live.output);
    }
  }
  return leastTokens * dearest;
}
