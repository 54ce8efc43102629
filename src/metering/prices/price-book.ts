import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { Price } from "../../storage/entities/metering/price.ts";
import type { Storage } from "../../storage/orm.ts";
import type { Rates } from "../interface.ts";

/** The most rates kept in memory. Wallets keep the rates that they pay themselves. */
const mostKnown = 10_000;

/**
 * The rates that lots pay. A lot keeps the price version it was made at. A version holds only the models whose price
 * it changed, so a model's rates are those of the newest version up to the lot's that holds the model. A model
 * that was first listed later is paid by the first version that lists it; a listed model stays in the book for ever.
 * Versions never change, so neither does an answer. The rates asked for least recently are forgotten first.
 */
export class PriceBook {
  readonly #storage: Storage;
  readonly #most: number;
  /** Least recently used first. */
  readonly #known = new Map<string, Rates>();

  constructor(storage: Storage, most = mostKnown) {
    this.#storage = storage;
    this.#most = most;
  }

  /** How many rates are in memory. */
  get size(): number {
    return this.#known.size;
  }

  /** The rates. Throws MODEL_NOT_FOUND for a model that was never priced, which is never served either. */
  async load(version: number, model: string): Promise<Rates> {
    const key = `${version} ${model}`;
    const rates = this.#known.get(key) ?? (await this.#read(version, model));
    this.#known.delete(key);
    this.#known.set(key, rates);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#most) {
        break;
      }
      this.#known.delete(oldest);
    }
    return rates;
  }

  async #read(version: number, model: string): Promise<Rates> {
    const em = this.#storage.orm.em.fork();
    const first = async (versionId: object, versionOrder: "asc" | "desc") =>
      (await em.find(Price, { model, versionId }, { orderBy: { versionId: versionOrder }, limit: 1 }))[0];
    const price = (await first({ $lte: version }, "desc")) ?? (await first({ $gt: version }, "asc"));
    if (price === undefined) {
      throw failure(Reason.MODEL_NOT_FOUND, `The model ${model} was never priced.`);
    }
    return { input: price.input, output: price.output };
  }
}
