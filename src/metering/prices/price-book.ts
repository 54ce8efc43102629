import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { Price } from "../../storage/entities/price.ts";
import type { Storage } from "../../storage/orm.ts";
import type { Rates } from "../interface.ts";

/** Rates kept in memory for whoever comes next. Wallets keep those that they pay by themselves. */
const mostKnown = 10_000;

/**
 * What lots pay. A lot pays by the price version of its making: the newest version up to it that has the model. A
 * model that no version up to it has was listed later, and is paid by the first version that lists it. (A version
 * holds only what it changed, and a model that was once listed stays so: one that it does not hold is unchanged.)
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
