import { parseUsd } from "#lib/money/money.ts";

/** An amount in pico-USD that the configuration's schema has already checked. */
export function readPicoUsd(usd: string): bigint {
  const amount = parseUsd(usd);
  if (amount === undefined) {
    throw new Error(`${usd} is no amount of USD`);
  }
  return amount;
}
