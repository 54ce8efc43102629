import { parseUsd } from "../../../lib/money.ts";

/** Pico-USD of an amount that the configuration's schema has already judged. */
export function readPicoUsd(usd: string): bigint {
  const amount = parseUsd(usd);
  if (amount === undefined) {
    throw new Error(`${usd} is no amount of USD`);
  }
  return amount;
}
