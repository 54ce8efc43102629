/** An amount or a price in whole pico-USD (10^-12 USD): a JS number for one request, a bigint for sums. */
export type PicoUsd = number;

/** Tokens to be charged. */
export interface ChargedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The tokens of a request that runs. */
export interface TokensSoFar extends ChargedTokens {
  /** There are at least so many: the engine's own count is still to come. Absent: it has counted them. */
  readonly isLowerBound?: true;
}
