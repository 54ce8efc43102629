import type { Rates } from "../../interface.ts";
import type { PriceBook } from "../../prices/price-book.ts";

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

  constructor(book: PriceBook) {
    this.#book = book;
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

  /** Whether the rates of all models are loaded for these versions. */
  know(versions: readonly number[]): boolean {
    const models = [...this.#models];
    return versions.every((version) => models.every((model) => this.find(version, model) !== undefined));
  }

  /**
   * Loads a model's rates for these versions and counts it among those that are paid from the wallet; not before, for
   * one that has no rates must not spoil every later lease.
   */
  async addModel(model: string, versions: readonly number[]): Promise<void> {
    await this.#loadAll(versions.map((version) => ({ version, model })));
    this.#models.add(model);
  }

  /** Loads the rates of all models for these versions. */
  async load(versions: readonly number[]): Promise<void> {
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
