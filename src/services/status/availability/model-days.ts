import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import { ModelDay } from "#src/storage/entities/history/model-day.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { toBucket } from "./buckets.ts";
import type { Outcome } from "./outcome.ts";

const storeMs = 10_000;
/** Days that are kept and told. */
export const keptDays = 90;

/** The model of requests that name none of ours. */
export const noModel = "";

/** The measure of a bucket of times to the first token. */
export const firstTokenMeasure = "first_token_";

export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Counts what happened to requests, by model and day. Counts are kept in memory and added to the stored ones every ten seconds:
 * a core that dies loses those.
 */
export class ModelDays {
  readonly #parts: Dependencies;
  #counts = new Map<string, { readonly model: string; readonly measure: string; count: number }>();
  #purgedOn = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts storing. Returns the function that stores the rest and ends it. */
  start(): () => Promise<void> {
    const { clock, logger } = this.#parts;
    const stop = repeat(clock, storeMs, logger, "store the counts of requests", () => this.store());
    return async () => {
      stop();
      await this.store();
    };
  }

  ended(model: string, outcome: Outcome): void {
    this.#add(model, outcome);
  }

  began(model: string, firstTokenMs: number): void {
    this.#add(model, `${firstTokenMeasure}${toBucket(firstTokenMs)}`);
  }

  /** Adds what was counted to the stored counts of today, and drops days that are too old. */
  async store(): Promise<void> {
    const { storage, clock } = this.#parts;
    const counts = [...this.#counts.values()].toSorted((one, other) => (toKey(one) < toKey(other) ? -1 : 1));
    this.#counts = new Map();
    const day = Math.floor(clock.now() / dayMs);
    if (counts.length > 0) {
      const rows = counts.map(({ model, measure, count }) => [day, model, measure, count]);
      const sql = `insert into model_day (day, model, measure, count) values ${rows.map(() => "(?, ?, ?, ?)").join(", ")}
        on conflict (day, model, measure) do update set count = model_day.count + excluded.count`;
      try {
        await inTransaction(storage, (em) => em.execute(sql, rows.flat()));
      } catch (error) {
        for (const { model, measure, count } of counts) {
          this.#add(model, measure, count);
        }
        throw error;
      }
    }
    if (this.#purgedOn !== day) {
      await inTransaction(storage, (em) => em.nativeDelete(ModelDay, { day: { $lte: day - keptDays } }));
      this.#purgedOn = day;
    }
  }

  #add(model: string, measure: string, count = 1): void {
    const key = toKey({ model, measure });
    const found = this.#counts.get(key);
    if (found === undefined) {
      this.#counts.set(key, { model, measure, count });
    } else {
      found.count += count;
    }
  }
}

function toKey({ model, measure }: { readonly model: string; readonly measure: string }): string {
  return `${model} ${measure}`;
}
