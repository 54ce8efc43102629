import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../../lib/errors/detail.ts";
import type { Rates } from "../../prices/interface.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { Lease, LeasedSlice } from "./wallet-store.ts";

/** A slice that has a price version. */
type Priced = Pick<LeasedSlice, "id" | "priceVersion">;

/** The money of a wallet. */
export interface PricedMoney {
  /** That can be spent. */
  readonly open: readonly Priced[];
  /** That is spent, too, but whose charges may come back. */
  readonly all: readonly Priced[];
}

/**
 * The rates that a wallet pays by: of every model that is paid from it, in every price version of its money. They
 * stay for as long as the wallet has money of the version, whatever the price book forgets: a request that runs must
 * always find what it costs.
 */
export class WalletRates {
  readonly #book: PriceBook;
  readonly #money: PricedMoney;
  readonly #lose: (sliceIds: ReadonlySet<string>) => void;
  readonly #models = new Set<string>();
  /** By version, then by model. */
  readonly #rates = new Map<number, Map<string, Rates>>();
  /** The highest of what money there is, by model. */
  readonly #max = new Map<string, Rates>();
  /** The era of the book that these are of. */
  #era: number;

  /** `lose` is told of slices of lots that were lost together with their price lists. */
  constructor(book: PriceBook, money: PricedMoney, lose: (sliceIds: ReadonlySet<string>) => void) {
    this.#book = book;
    this.#money = money;
    this.#lose = lose;
    this.#era = book.era;
  }

  /** The rates. Undefined: they have to be loaded first. */
  find(version: number, model: string): Rates | undefined {
    return this.#rates.get(version)?.get(model);
  }

  /** The highest rates of all the money in the wallet. Undefined: they have to be loaded first. */
  max(model: string): Rates | undefined {
    const known = this.#max.get(model);
    if (known !== undefined) {
      return known;
    }
    let input = 0;
    let output = 0;
    for (const { priceVersion } of this.#money.open) {
      const rates = this.find(priceVersion, model);
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

  /** Notes that the money in the wallet is of other versions than before. */
  otherMoney(): void {
    this.#max.clear();
  }

  /** Whether the rates of all models are loaded for this money, and of the price lists that there are now. */
  #know(money: readonly Priced[]): boolean {
    const models = [...this.#models];
    return (
      this.#era === this.#book.era &&
      money.every(({ priceVersion }) => models.every((model) => this.find(priceVersion, model) !== undefined))
    );
  }

  /**
   * Loads a model's rates for the money that there is and counts it among those that are paid from the wallet; not before, for
   * one that has no rates must not spoil every later lease.
   */
  async addModel(model: string): Promise<void> {
    await this.#loadAll(this.#money.open.map(({ priceVersion }) => ({ version: priceVersion, model })));
    this.#models.add(model);
  }

  /**
   * Loads the rates of slices that come, for all models that are paid from the wallet. When the newest version in the
   * store tells that versions were lost, all rates are loaded anew.
   */
  async loadFor({ slices, newestPrices }: Pick<Lease, "slices" | "newestPrices">): Promise<void> {
    await this.#book.look(newestPrices);
    this.#loseLost();
    // A model may come meanwhile that the account has not asked for before.
    while (!this.#know(slices)) {
      await this.#load(slices);
    }
  }

  /** Whether rates here may be of price lists that were lost. */
  get old(): boolean {
    return !this.#know([]);
  }

  /** Loads all rates anew that may be of price lists that were lost. */
  async renew(): Promise<void> {
    this.#loseLost();
    await this.#load([]);
  }

  /** Forgets slices of lots that were lost together with their price lists, whose numbers others may take. */
  #loseLost(): void {
    const lost = this.#money.all.filter(({ priceVersion }) => this.#isLost(priceVersion));
    if (lost.length > 0) {
      this.#lose(new Set(lost.map(({ id }) => id)));
    }
  }

  /** Whether a version, and with it the money of it, has been lost. */
  #isLost(version: number): boolean {
    return this.#era !== this.#book.era && version > this.#book.newestVersion;
  }

  /** Loads the rates of all models for this money. */
  async #load(money: readonly Priced[]): Promise<void> {
    if (this.#era !== this.#book.era) {
      await this.#loadAnew();
    }
    const models = [...this.#models];
    await this.#loadAll(money.flatMap(({ priceVersion }) => models.map((model) => ({ version: priceVersion, model }))));
  }

  /** Forgets versions that the wallet has no money of any more. */
  keepNeeded(): void {
    const versions = new Set(this.#money.all.map(({ priceVersion }) => priceVersion));
    for (const version of this.#rates.keys()) {
      if (!versions.has(version)) {
        this.#rates.delete(version);
      }
    }
  }

  /** Versions were lost that these rates may be of. Until all are loaded the old ones stay: a request that runs needs them. */
  async #loadAnew(): Promise<void> {
    const { era, newestVersion } = this.#book;
    for (const version of this.#rates.keys()) {
      if (version > newestVersion) {
        this.#rates.delete(version);
      }
    }
    const old = Array.from(this.#rates, ([version, models]) => Array.from(models, (of) => ({ version, of }))).flat();
    const found = await Promise.all(
      old.map(({ version, of: [model, rates] }) =>
        this.#book.load(version, model).catch((error: unknown) => this.#keepUnpriced(model, rates, error)),
      ),
    );
    for (const [at, { version, of }] of old.entries()) {
      this.#rates.get(version)?.set(of[0], found[at] as Rates);
    }
    this.#max.clear();
    this.#era = era;
  }

  /** A model that is listed no more keeps its rates for what runs, and spoils no lease of money that comes. */
  #keepUnpriced(model: string, rates: Rates, error: unknown): Rates {
    if (readDetail(error)?.reason !== Reason.MODEL_NOT_FOUND) {
      throw error;
    }
    this.#models.delete(model);
    return rates;
  }

  async #loadAll(wanted: readonly { readonly version: number; readonly model: string }[]): Promise<void> {
    const missing = wanted.filter(({ version, model }) => this.find(version, model) === undefined);
    const found = await Promise.all(missing.map(({ version, model }) => this.#book.load(version, model)));
    for (const [at, { version, model }] of missing.entries()) {
      const models = this.#rates.get(version) ?? new Map<string, Rates>();
      models.set(model, found[at] as Rates);
      this.#rates.set(version, models);
    }
  }
}
