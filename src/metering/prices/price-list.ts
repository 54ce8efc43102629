import type { ModelConfig } from "../../config/schema.ts";
import type { Prices, Rates } from "./interface.ts";
import type { PriceBook } from "./price-book.ts";
import type { HistoryPage, PriceRecord } from "./price-versions.ts";

/** The rates that a price moves to, and the part of the capacity in use that asks for them. */
export interface MovedRates extends Rates {
  readonly utilisation: number;
}

/** Live prices, for operators and for the other parts of metering. */
export interface PriceList extends Prices {
  /** The rates that lots pay. */
  readonly book: PriceBook;
  /** The last rates of a model, whether or not it is still served. Throws MODEL_NOT_FOUND. */
  last(model: string): Rates;
  /** The live price of every served model, in the configured order. */
  list(): PriceRecord[];
  /** Prices that a model had, newest first. Throws MODEL_NOT_FOUND. */
  history(model: string, page: HistoryPage): Promise<PriceRecord[]>;
  /** Sets base and live price. A pinned price stays pinned, at the new value. Throws MODEL_NOT_FOUND, INVALID_ARGUMENT. */
  set(model: string, rates: Rates): Promise<PriceRecord>;
  /** Fixes the live price, or the rates of it that are given. Throws as set. */
  pin(model: string, rates: Partial<Rates>): Promise<PriceRecord>;
  /** Lets the price move again. Throws MODEL_NOT_FOUND. */
  unpin(model: string): Promise<PriceRecord>;
  /**
   * Moves the live prices that are not pinned to what the function says; undefined: that one stays. Does nothing
   * when any price was changed since the time given, so that of many cores one moves the prices.
   */
  move(
    unchangedSince: Date,
    next: (price: Pick<PriceRecord, "model" | "live" | "base">) => MovedRates | undefined,
  ): Promise<void>;
  /** Reads what other cores have published. */
  refresh(): Promise<void>;
  /** Has prices for these models, once what their configuration has changed is published. Throws, and changes nothing, when it cannot be. */
  adopt(models: readonly ModelConfig[]): Promise<void>;
}
