// What a price is when it is published anew.

import type { PriceReason } from "../../storage/entities/metering/price.ts";
import type { PriceFacts } from "./price-versions.ts";

/** Whether prices are the same, whatever made them. */
export function isSame(one: PriceFacts, other: PriceFacts): boolean {
  return Object.entries(one).every(([name, value]) => other[name as keyof PriceFacts] === value);
}

/** What a price was, to be changed for a reason. */
export function readFacts(price: PriceFacts, reason: PriceReason): PriceFacts {
  const { input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned } = price;
  return {
    ...{ input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned },
    ...{ reason, utilisation: null },
  };
}
