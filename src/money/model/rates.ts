import type { PicoUsd } from "./interface.ts";

/** A model's rates in pico-USD a token. */
export interface Rates {
  readonly input: PicoUsd;
  readonly output: PicoUsd;
}

/** Live prices. */
export interface Prices {
  /** The live rates of a model that the configuration lists. */
  live(model: string): Rates;
}
