/** Money and prices are whole pico-USD (10^-12 USD): a JS number a request, a bigint a sum. */
export type PicoUsd = number;

/** Tokens to be charged. */
export interface ChargedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
