import type { Charge } from "../../model/charges/charge.ts";
import { mostTokens } from "../rollups.ts";

/** Sums of charges, in the order of `sumNames`. */
export interface Sums {
  readonly sums: bigint[];
}

/** The sums of one charge. */
export function sumsOf({ inputTokens, outputTokens, cost, shortfall }: Charge): bigint[] {
  const tokens = [Math.min(inputTokens, mostTokens), Math.min(outputTokens, mostTokens)];
  return [1, ...tokens, Math.floor(cost / 1e6), cost % 1e6, shortfall].map(BigInt);
}

/** Adds a charge to sums. */
export function add({ sums }: Sums, charge: Charge): void {
  for (const [at, part] of sumsOf(charge).entries()) {
    sums[at] = (sums[at] ?? 0n) + part;
  }
}
