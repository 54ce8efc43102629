/** An amount or a price in whole pico-USD (10^-12 USD): a JS number for one request, a bigint for sums. */
export type PicoUsd = number;

/** Tokens to be charged. */
export interface ChargedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
