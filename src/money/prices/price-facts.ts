// The facts of a price that is published again.

import type { PriceReason } from "#src/storage/entities/metering/price.ts";
import type { PriceFacts } from "./price-versions.ts";

/** The facts of a price, to be changed for this reason. */
export function readFacts(price: PriceFacts, reason: PriceReason): PriceFacts {
  const { input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned } = price;
  return { input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned, reason, utilisation: null };
}
