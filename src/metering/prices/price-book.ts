import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { Price } from "../../storage/entities/price.ts";
import type { Storage } from "../../storage/orm.ts";
import type { Rates } from "../interface.ts";

/** Rates kept in memory before the book starts over. */
const MOST_KNOWN = 100_000;

/**
 * What lots pay. A lot pays by the price version of its making; a model missing there was listed
 * later and is paid by the first version that lists it. Versions never change, so neither does an
 * answer, and each is looked up once.
 */
export class PriceBook {
  readonly #storage: Storage;
  readonly #known = new Map<string, Rates>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The rates if they are in memory. */
  find(version: number, model: string): Rates | undefined {
    return this.#known.get(`${version} ${model}`);
  }

  /** The rates. Throws MODEL_NOT_FOUND for a model that was never priced, which is never served either. */
  async load(version: number, model: string): Promise<Rates> {
    const known = this.find(version, model);
    if (known !== undefined) return known;
    const em = this.#storage.orm.em.fork();
    const [price] = await em.find(
      Price,
      { model, versionId: { $gte: version } },
      { orderBy: { versionId: "asc" }, limit: 1 },
    );
    if (price === undefined)
      throw failure(Reason.MODEL_NOT_FOUND, `The model ${model} has no price since version ${version}.`);
    const rates = { input: price.input, output: price.output };
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(`${version} ${model}`, rates);
    return rates;
  }
}
