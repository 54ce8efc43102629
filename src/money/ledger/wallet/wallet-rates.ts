import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { LockedPrices } from "../../model/prices/own-prices.ts";
import type { Rates } from "../../model/rates.ts";
import type { Lease, LeasedSlice } from "../../model/store/wallet.ts";
import type { PriceBook } from "../../prices/price-book.ts";

/** A slice with its prices. */
type Priced = Pick<LeasedSlice, "id"> & LockedPrices;

/** What money with these prices pays for a model. */
interface Known {
  readonly prices: LockedPrices;
  readonly model: string;
  readonly rates: Rates;
}

/** Names a model's rates within a price version. */
const nameOf = ({ ownPrices }: LockedPrices, model: string) => (ownPrices === null ? model : `${ownPrices} ${model}`);

/** The money of a wallet. */
export interface PricedMoney {
  /** Money that can be spent. */
  readonly open: readonly Priced[];
  /** Also spent money whose charges may come back. */
  readonly all: readonly Priced[];
}

/**
 * The rates that a wallet pays: of every model that is paid from it, at all prices of its money. They stay for as
 * long as the wallet has money of the price version, whatever the price book forgets: a running request must always find
 * its price.
 */
export class WalletRates {
  readonly #book: PriceBook;
  readonly #money: PricedMoney;
  readonly #lose: (sliceIds: ReadonlySet<string>) => void;
  readonly #models = new Set<string>();
  /** By version, then by the name within it. */
  readonly #rates = new Map<number, Map<string, Known>>();
  /** The highest rates of the open money, by model. */
  readonly #max = new Map<string, Rates>();
  /** The price book's era that these rates are of. */
  #era: number;

  /** `lose` is called with slices of lots that were lost together with their price lists. */
  constructor(book: PriceBook, money: PricedMoney, lose: (sliceIds: ReadonlySet<string>) => void) {
    this.#book = book;
    this.#money = money;
    this.#lose = lose;
    this.#era = book.era;
  }

  /** Undefined: the rates have to be loaded first. */
  find(prices: LockedPrices, model: string): Rates | undefined {
    return this.#rates.get(prices.priceVersion)?.get(nameOf(prices, model))?.rates;
  }

  /** The highest rates of all open money in the wallet. Undefined: they have to be loaded first. */
  max(model: string): Rates | undefined {
    const known = this.#max.get(model);
    if (known !== undefined) {
      return known;
    }
    let input = 0;
    let output = 0;
    for (const slice of this.#money.open) {
      const rates = this.find(slice, model);
      if (rates === undefined) {
        return undefined;
      }
      input = Math.max(input, rates.input);
      output = Math.max(output, rates.output);
    }
    const rates = { input, output };
    this.#max.set(model, rates);
    return rates;
  }

  /** Notes that the money in the wallet may have other price versions than before. */
  otherMoney(): void {
    this.#max.clear();
  }

  /** Whether the rates of all models are loaded for this money, from the current price lists. */
  #know(money: readonly Priced[]): boolean {
    const models = [...this.#models];
    return (
      this.#era === this.#book.era &&
      money.every((slice) => models.every((model) => this.find(slice, model) !== undefined))
    );
  }

  /**
   * Loads a model's rates for the wallet's money, then adds it to the models paid from the wallet. It is added last
   * because a model without rates must not spoil every later lease.
   */
  async addModel(model: string): Promise<void> {
    await this.#loadAll(this.#money.open.map((prices) => ({ prices, model })));
    this.#models.add(model);
  }

  /**
   * Loads the rates of new slices, for all models paid from the wallet. When the store's newest version shows that
   * versions were lost, all rates are loaded anew.
   */
  async loadFor({ slices, newestPrices }: Pick<Lease, "slices" | "newestPrices">): Promise<void> {
    await this.#book.look(newestPrices);
    this.#loseLost();
    // A model that the account has not used before may be added meanwhile.
    while (!this.#know(slices)) {
      await this.#load(slices);
    }
  }

  /** Whether rates here may be of lost price lists. */
  get old(): boolean {
    return !this.#know([]);
  }

  /** Loads all rates anew that may be of lost price lists. */
  async renew(): Promise<void> {
    this.#loseLost();
    await this.#load([]);
  }

  /**
   * Forgets slices of lots that were lost together with their price lists. New price lists may take the same numbers.
   */
  #loseLost(): void {
    const lost = this.#money.all.filter(({ priceVersion }) => this.#isLost(priceVersion));
    if (lost.length > 0) {
      this.#lose(new Set(lost.map(({ id }) => id)));
    }
  }

  /** Whether a version, and with it its money, was lost. */
  #isLost(version: number): boolean {
    return this.#era !== this.#book.era && version > this.#book.newestVersion;
  }

  /** Loads the rates of all models for this money. */
  async #load(money: readonly Priced[]): Promise<void> {
    if (this.#era !== this.#book.era) {
      await this.#loadAnew();
    }
    const models = [...this.#models];
    await this.#loadAll(money.flatMap((prices) => models.map((model) => ({ prices, model }))));
  }

  /** Forgets versions that the wallet no longer has money of. */
  keepNeeded(): void {
    const versions = new Set(this.#money.all.map(({ priceVersion }) => priceVersion));
    for (const version of this.#rates.keys()) {
      if (!versions.has(version)) {
        this.#rates.delete(version);
      }
    }
  }

  /**
   * Reloads the rates after versions were lost. The old rates stay until all are loaded: a running request needs them.
   */
  async #loadAnew(): Promise<void> {
    const { era, newestVersion } = this.#book;
    for (const version of this.#rates.keys()) {
      if (version > newestVersion) {
        this.#rates.delete(version);
      }
    }
    const old = Array.from(this.#rates.values(), (models) => [...models.values()]).flat();
    const found = await Promise.all(
      old.map(({ prices, model, rates }) =>
        this.#book.load(prices, model).catch((error: unknown) => this.#keepUnpriced(model, rates, error)),
      ),
    );
    for (const [at, { prices, model }] of old.entries()) {
      this.#rates.get(prices.priceVersion)?.set(nameOf(prices, model), { prices, model, rates: found[at] as Rates });
    }
    this.#max.clear();
    this.#era = era;
  }

  /** A model that is no longer listed keeps its rates for running requests, and spoils no lease of new money. */
  #keepUnpriced(model: string, rates: Rates, error: unknown): Rates {
    if (readDetail(error)?.reason !== Reason.MODEL_NOT_FOUND) {
      throw error;
    }
    this.#models.delete(model);
    return rates;
  }

  async #loadAll(wanted: readonly Omit<Known, "rates">[]): Promise<void> {
    const missing = wanted.filter(({ prices, model }) => this.find(prices, model) === undefined);
    const found = await Promise.all(missing.map(({ prices, model }) => this.#book.load(prices, model)));
    for (const [at, { prices, model }] of missing.entries()) {
      const { priceVersion, ownPrices } = prices;
      const models = this.#rates.get(priceVersion) ?? new Map<string, Known>();
      const known = { prices: { priceVersion, ownPrices }, model, rates: found[at] as Rates };
      models.set(nameOf(prices, model), known);
      this.#rates.set(priceVersion, models);
    }
  }
}
