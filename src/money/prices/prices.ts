import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { type Random, systemRandom } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { ModelConfig } from "#src/config/schema.ts";
import type { PriceReason } from "#src/storage/entities/metering/price.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readNewestVersion } from "../model/prices/version-marks.ts";
import type { Rates } from "../model/rates.ts";
import { checkRates, configuredRates } from "./configured-rates.ts";
import { PriceBook } from "./price-book.ts";
import { readFacts } from "./price-facts.ts";
import type { PriceList } from "./price-list.ts";
import {
  type HistoryPage,
  type PriceFacts,
  type PriceRecord,
  type Dependencies as PublishDependencies,
  publish,
  readHistory,
  readNewest,
} from "./price-versions.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Makes the marks of versions. Absent: the system's randomness. */
  readonly random?: Random;
  /** The rates that lots pay. Absent: a book of the usual size. */
  readonly book?: PriceBook | undefined;
  /** Called with every change. Absent: changes are not announced. */
  readonly announce?: Announce;
}

/** Publishes changes of the configuration (new models, other base prices), then reads the live prices. */
export async function createPrices(
  parts: Dependencies & { readonly models: readonly ModelConfig[] },
): Promise<PriceList> {
  const prices = new PublishedPrices(parts);
  await prices.adopt(parts.models);
  return prices;
}

class PublishedPrices implements PriceList {
  readonly book: PriceBook;
  readonly #storage: Storage;
  readonly #publishing: PublishDependencies;
  #models: ReadonlyMap<string, ModelConfig> = new Map();
  #newest: ReadonlyMap<string, PriceRecord> = new Map();
  /** How many reads of the newest prices have begun, and which of them #newest is of. */
  #begun = 0;
  #taken = 0;

  constructor({ random = systemRandom, ...parts }: Dependencies) {
    this.book = parts.book ?? new PriceBook(parts.storage);
    this.#storage = parts.storage;
    this.#publishing = { ...parts, random };
    this.book.onLoss(() => this.#list([...this.#models.values()]));
  }

  live(model: string): Rates {
    return this.#record(model).live;
  }

  last(model: string): Rates {
    const record = this.#newest.get(model);
    if (record === undefined) {
      throw failure(Reason.MODEL_NOT_FOUND, `The model ${model} was never priced.`);
    }
    return record.live;
  }

  list(): PriceRecord[] {
    return [...this.#models.keys()].map((model) => this.#record(model));
  }

  async history(model: string, page: HistoryPage): Promise<PriceRecord[]> {
    this.#record(model);
    return readHistory(this.#storage, model, page);
  }

  check(model: string, rates: Rates): void {
    this.#record(model);
    checkRates(this.#models.get(model)?.kind, rates);
  }

  async set(model: string, rates: Rates): Promise<PriceRecord> {
    this.check(model, rates);
    const { input, output } = rates;
    return this.#change(model, "set", (price) => ({ ...price, input, output, baseInput: input, baseOutput: output }));
  }

  async pin(model: string, rates: Partial<Rates>): Promise<PriceRecord> {
    this.check(model, { ...this.live(model), ...rates });
    return this.#change(model, "pinned", (price) => ({ ...price, ...rates, pinned: true }));
  }

  unpin(model: string): Promise<PriceRecord> {
    return this.#change(model, "unpinned", (price) => ({ ...price, pinned: false }));
  }

  async move(unchangedSince: Date, next: Parameters<PriceList["move"]>[1]): Promise<void> {
    await publish(this.#publishing, (newest, publishedAt) => {
      const moved = new Map<string, PriceFacts>();
      if (publishedAt !== undefined && publishedAt > unchangedSince) {
        return moved;
      }
      for (const model of this.#models.keys()) {
        const price = newest.get(model);
        if (price === undefined || price.pinned) {
          continue;
        }
        const live = { input: price.input, output: price.output };
        const rates = next({ model, live, base: { input: price.baseInput, output: price.baseOutput } });
        if (rates === undefined || (rates.input === live.input && rates.output === live.output)) {
          continue;
        }
        moved.set(model, { ...readFacts(price, "moved"), ...rates });
      }
      return moved;
    });
    await this.refresh();
  }

  async refresh(): Promise<void> {
    await this.book.look(await readNewestVersion(this.#storage));
    await this.#read();
  }

  /**
   * A served model keeps its last price while the database has lost it. Once the loss is noticed the model is listed
   * again. An answer that comes after that of a later read is not taken.
   */
  async #read(): Promise<void> {
    const read = ++this.#begun;
    const newest = await readNewest(this.#storage);
    if (read < this.#taken) {
      return;
    }
    this.#taken = read;
    const lost = [...this.#newest].filter(([model]) => this.#models.has(model) && !newest.has(model));
    this.#newest = new Map([...newest, ...lost]);
  }

  async adopt(models: readonly ModelConfig[]): Promise<void> {
    await this.#list(models);
    this.#models = new Map(models.map((model) => [model.id, model]));
  }

  /**
   * Publishes the configuration changes of these models, then reads all prices. Does it again when the database has gone
   * back in between: every model has a price afterwards. The book learns which version there was, so that a later loss
   * is noticed before anything was paid by it.
   */
  async #list(models: readonly ModelConfig[]): Promise<void> {
    do {
      await this.book.note(await publish(this.#publishing, (newest) => findConfigured(models, newest)));
      await this.#read();
    } while (models.some(({ id }) => !this.#newest.has(id)));
  }

  async #change(model: string, reason: PriceReason, change: (price: PriceFacts) => PriceFacts): Promise<PriceRecord> {
    this.#record(model);
    await publish(this.#publishing, (newest) => {
      const price = newest.get(model);
      return price === undefined ? new Map() : new Map([[model, change(readFacts(price, reason))]]);
    });
    await this.refresh();
    return this.#record(model);
  }

  #record(model: string): PriceRecord {
    const record = this.#models.has(model) ? this.#newest.get(model) : undefined;
    if (record === undefined) {
      throw failure(Reason.MODEL_NOT_FOUND, `The model ${model} is not served.`, { parameter: "model" });
    }
    return record;
  }
}

/** The prices of models whose configuration says something else than when it was last applied. */
function findConfigured(
  models: readonly ModelConfig[],
  newest: ReadonlyMap<string, PriceFacts>,
): ReadonlyMap<string, PriceFacts> {
  const changed = new Map<string, PriceFacts>();
  for (const model of models) {
    const { input, output } = configuredRates(model);
    const price = newest.get(model.id);
    if (price?.configuredInput === input && price.configuredOutput === output) {
      continue;
    }
    const base = { baseInput: input, baseOutput: output, configuredInput: input, configuredOutput: output };
    const live = price?.pinned ? { input: price.input, output: price.output } : { input, output };
    const made = { pinned: price?.pinned ?? false, reason: "configured", utilisation: null } as const;
    changed.set(model.id, { ...live, ...base, ...made });
  }
  return changed;
}
