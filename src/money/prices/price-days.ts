import { dayMs, dayName } from "#lib/time/days.ts";
import { Price, PriceVersion } from "#src/storage/entities/metering/price.ts";
import type { Storage } from "#src/storage/storage.ts";

const days = 30;

/** A model's price at the end of a day, or now, in pico-USD a token. */
export interface PricedDay {
  /** The day in UTC, such as "2026-01-31". */
  readonly date: string;
  readonly input: number;
  readonly output: number;
}

export interface ModelPriceDays {
  readonly model: string;
  /** Oldest first. Days before it had a price are left out. */
  readonly days: readonly PricedDay[];
}

/** The prices of models in the last 30 days. Each is found by an index, however often prices have changed. */
export async function readPriceDays(
  storage: Storage,
  models: readonly string[],
  now: number,
): Promise<ModelPriceDays[]> {
  const em = storage.orm.em.fork();
  const today = Math.floor(now / dayMs);
  const last = await Promise.all(
    Array.from({ length: days }, async (_, index) => {
      const day = today - days + 1 + index;
      const publishedAt = { $lt: new Date((day + 1) * dayMs) };
      const [version] = await em.find(
        PriceVersion,
        { publishedAt },
        { orderBy: { publishedAt: "desc", id: "desc" }, limit: 1 },
      );
      return { date: dayName(day), version: version?.id };
    }),
  );
  return Promise.all(models.map(async (model) => ({ model, days: await readDays(storage, model, last) })));
}

interface Day {
  readonly date: string;
  /** The version that was live at its end. Undefined: there was none yet. */
  readonly version: number | undefined;
}

/** Most days have the price of the day before: a version that both share is asked for once. */
async function readDays(storage: Storage, model: string, all: readonly Day[]): Promise<PricedDay[]> {
  const em = storage.orm.em.fork();
  const found = new Map<number, Promise<Price | null>>();
  const priceAt = (versionId: number) => {
    const price =
      found.get(versionId) ??
      em.findOne(Price, { model, versionId: { $lte: versionId } }, { orderBy: { versionId: "desc" } });
    found.set(versionId, price);
    return price;
  };
  const priced = await Promise.all(
    all.map(async ({ date, version }): Promise<PricedDay[]> => {
      const price = version === undefined ? null : await priceAt(version);
      return price === null ? [] : [{ date, input: price.input, output: price.output }];
    }),
  );
  return priced.flat();
}
