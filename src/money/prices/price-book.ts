import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { BoundedMap } from "#lib/overload/bounded-map.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { LockedPrices } from "../model/prices/own-prices.ts";
import { findThere, isSameVersion, readRates, type VersionMark } from "../model/prices/version-marks.ts";
import type { Rates } from "../model/rates.ts";
import { unavailable } from "../model/unavailable.ts";

/** The mark of a store without versions. */
const nothing: VersionMark = { version: 0, mark: "" };

/** The most rates kept in memory. Wallets keep the rates that they pay themselves. */
const mostKnown = 10_000;

/**
 * The rates that lots pay. A lot keeps the price version it was made at, and the own prices that its account had then,
 * which change the version's rates and never change themselves. A version holds only the models whose price it
 * changed, so a model's rates are those of the newest version up to the lot's that holds the model. A model that was
 * first listed later is paid at the first version that lists it. A listed model stays in the book for ever. Versions
 * never change, so neither do rates, except when a database fails over into the past: it loses its last versions, and
 * gives their numbers to new ones. Then an era ends, and all rates are read anew. The least recently used rates are
 * forgotten first.
 */
export class PriceBook {
  readonly #storage: Storage;
  readonly #known: BoundedMap<string, Rates>;
  /** The newest version when any of these rates was read. Undefined: none was read. */
  #newest: VersionMark | undefined;
  #era = 0;
  #relist: () => Promise<void> = async () => {};
  /** True when versions were lost and nobody has begun to list the configured prices again. */
  #mustRelist = false;
  #relisting: Promise<void> | undefined;

  constructor(storage: Storage, most = mostKnown) {
    this.#storage = storage;
    this.#known = new BoundedMap(most);
  }

  /** The number of rates in memory. */
  get size(): number {
    return this.#known.size;
  }

  /** The number of the newest known version. */
  get newestVersion(): number {
    return this.#newest?.version ?? 0;
  }

  /** Changes when versions were lost that rates may have been read from. */
  get era(): number {
    return this.#era;
  }

  /**
   * Registers a function that is called whenever versions were lost, before anything is read again: configured prices
   * may be among them.
   */
  onLoss(relist: () => Promise<void>): void {
    this.#relist = relist;
  }

  /**
   * Returns the rates. Throws MODEL_NOT_FOUND for a model that was never priced, and thus never served, and
   * LEDGER_UNAVAILABLE for a lost version, whose number a new one will get.
   */
  async load(prices: LockedPrices, model: string): Promise<Rates> {
    const key = `${prices.priceVersion} ${prices.ownPrices} ${model}`;
    const rates = this.#known.get(key) ?? (await this.#read(prices, model));
    this.#known.set(key, rates);
    return rates;
  }

  /**
   * Reads the rates together with the newest version, so that it can be seen later whether the versions read from still
   * exist.
   */
  async #read(prices: LockedPrices, model: string): Promise<Rates> {
    for (;;) {
      const era = this.#era;
      const { rates, newest } = await readRates(this.#storage, prices, model);
      await this.look(newest);
      if (this.#era !== era) {
        continue;
      }
      if (prices.priceVersion > (newest?.version ?? 0)) {
        throw unavailable("A price list is not there any more.");
      }
      if (rates === undefined) {
        throw failure(Reason.MODEL_NOT_FOUND, `The model ${model} was never priced.`);
      }
      return rates;
    }
  }

  /**
   * Takes in the version that was newest in the store at some moment. When an earlier newest version is gone or has
   * another mark, all rates are forgotten and a new era begins.
   */
  async look(newest: VersionMark | undefined): Promise<void> {
    await this.note(newest);
    if (this.#mustRelist || this.#relisting !== undefined) {
      this.#relisting ??= this.#relistOnce();
      await this.#relisting;
    }
  }

  /** As `look`, for what lists prices itself: when a version was lost, the next look has them listed again. */
  async note(newest: VersionMark | undefined): Promise<void> {
    const era = this.#era;
    await this.#compare(newest);
    if (this.#era !== era) {
      this.#mustRelist = true;
    }
  }

  async #relistOnce(): Promise<void> {
    this.#mustRelist = false;
    try {
      await this.#relist();
    } catch (error) {
      this.#mustRelist = true;
      throw error;
    } finally {
      this.#relisting = undefined;
    }
  }

  async #compare(newest: VersionMark | undefined): Promise<void> {
    for (;;) {
      const known = this.#newest;
      if (known === undefined || isSameVersion(newest, known)) {
        this.#newest = newest;
        return;
      }
      const there = await findThere(this.#storage, [known, ...(newest === undefined ? [] : [newest])]);
      if (this.#newest !== known) {
        continue; // another look was faster
      }
      // The new version may be lost by now, too, and with it everything that was read at the same moment.
      if (!there.includes(known) || (newest !== undefined && !there.includes(newest))) {
        this.#known.clear();
        this.#era++;
      }
      this.#newest = there.reduce((one, other) => (other.version > one.version ? other : one), there[0] ?? nothing);
      return;
    }
  }
}
