import { leastTokens } from "../ledger/admission/admit-short.ts";
import type { PicoUsd } from "../model/interface.ts";
import type { PriceList } from "../prices/price-list.ts";

/**
 * The balance below which some model's live price makes it refuse requests. `models`: the only models that count.
 * Undefined: all served models.
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
