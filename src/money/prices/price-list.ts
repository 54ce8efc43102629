import type { ModelConfig } from "#src/config/schema.ts";
import type { Prices, Rates } from "../model/rates.ts";
import type { PriceBook } from "./price-book.ts";
import type { HistoryPage, PriceRecord } from "./price-versions.ts";

/** The rates that a price moves to, and the utilisation that asks for them. */
export interface MovedRates extends Rates {
  readonly utilisation: number;
}

/** Live prices, for operators and for the other parts of metering. */
export interface PriceList extends Prices {
  /** The rates that lots pay. */
  readonly book: PriceBook;
  /** The last rates of a model, served or not. Throws MODEL_NOT_FOUND. */
  last(model: string): Rates;
  /** The live price of every served model, in the configured order. */
  list(): PriceRecord[];
  /** Past and live prices of a model, newest first. Throws MODEL_NOT_FOUND. */
  history(model: string, page: HistoryPage): Promise<PriceRecord[]>;
  /** Whether a served model may have these rates. Throws MODEL_NOT_FOUND, INVALID_ARGUMENT. */
  check(model: string, rates: Rates): void;
  /** Sets base and live price. A pinned price stays pinned, at the new value. Throws MODEL_NOT_FOUND, INVALID_ARGUMENT. */
  set(model: string, rates: Rates): Promise<PriceRecord>;
  /** Pins the live price: sets the given rates and keeps the others. Throws as set. */
  pin(model: string, rates: Partial<Rates>): Promise<PriceRecord>;
  /** Lets the price move again. Throws MODEL_NOT_FOUND. */
  unpin(model: string): Promise<PriceRecord>;
  /**
   * Moves the live prices that are not pinned to the function's results; undefined leaves a price as it is. Does
   * nothing when any price was changed since the given time, so that only one of many cores moves the prices.
   */
  move(
    unchangedSince: Date,
    next: (price: Pick<PriceRecord, "model" | "live" | "base">) => MovedRates | undefined,
  ): Promise<void>;
  /** Reads the prices that other cores have published. */
  refresh(): Promise<void>;
  /**
   * Publishes configuration changes of these models, then has prices for them. Throws, and changes nothing, when that
   * fails.
   */
  adopt(models: readonly ModelConfig[]): Promise<void>;
}
