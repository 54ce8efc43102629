import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../../lib/errors/detail.ts";
import type { Rates } from "../../prices/interface.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { VersionMark } from "../../prices/version-marks.ts";

/**
 * The rates that a wallet pays by: of every model that is paid from it, in every price version of its money. They
 * stay for as long as the wallet has money of the version, whatever the price book forgets: a request that runs must
 * always find what it costs.
 */
export class WalletRates {
  readonly #book: PriceBook;
  readonly #models = new Set<string>();
  /** By version, then by model. */
  readonly #rates = new Map<number, Map<string, Rates>>();
  /** The highest of what money there is, by model. */
  readonly #max = new Map<string, Rates>();
  /** The era of the book that these are of. */
  #era: number;

  constructor(book: PriceBook) {
    this.#book = book;
    this.#era = book.era;
  }

  /** The rates. Undefined: they have to be loaded first. */
  find(version: number, model: string): Rates | undefined {
    return this.#rates.get(version)?.get(model);
  }

  /** The highest rates of all the money in the wallet. Undefined: they have to be loaded first. */
  max(model: string, money: readonly { readonly priceVersion: number }[]): Rates | undefined {
    const known = this.#max.get(model);
    if (known !== undefined) {
      return known;
    }
    let input = 0;
    let output = 0;
    for (const { priceVersion } of money) {
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

  /** Whether the rates of all models are loaded for these versions, and of the price lists that there are now. */
  know(versions: readonly number[]): boolean {
    const models = [...this.#models];
    return (
      this.#era === this.#book.era &&
      versions.every((version) => models.every((model) => this.find(version, model) !== undefined))
    );
  }

  /**
   * Loads a model's rates for these versions and counts it among those that are paid from the wallet; not before, for
   * one that has no rates must not spoil every later lease.
   */
  async addModel(model: string, versions: readonly number[]): Promise<void> {
    await this.#loadAll(versions.map((version) => ({ version, model })));
    this.#models.add(model);
  }

  /** Takes in which price version is the newest in the store: when versions were lost, all rates are to be loaded anew. */
  look(newest: VersionMark | undefined): Promise<void> {
    return this.#book.look(newest);
  }

  /** Whether a version, and with it the money of it, has been lost. */
  isLost(version: number): boolean {
    return this.#era !== this.#book.era && version > this.#book.newestVersion;
  }

  /** Loads the rates of all models for these versions. */
  async load(versions: readonly number[]): Promise<void> {
    if (this.#era !== this.#book.era) {
      await this.#loadAnew();
    }
    const models = [...this.#models];
    await this.#loadAll(versions.flatMap((version) => models.map((model) => ({ version, model }))));
  }

  /** Forgets versions that the wallet has no money of any more. */
  keepOnly(versions: ReadonlySet<number>): void {
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
