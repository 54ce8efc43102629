import type { PriceList } from "../../metering/prices/prices.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** The prices of the first database, whose changes the others take over at once, or when they are there again. */
export function spreadPrices(first: PriceList, shards: Shards<Shard>): PriceList {
  const copies = () => shards.present().flatMap(({ books }) => (books.prices === first ? [] : [books.prices]));
  // A copy that cannot be made now is made within seconds of the database's return.
  const spread = (change: (prices: PriceList) => Promise<void>) => Promise.allSettled(copies().map(change));
  async function changed<T>(change: Promise<T>): Promise<T> {
    const done = await change;
    await spread((prices) => prices.refresh());
    return done;
  }
  return {
    book: first.book,
    live: (model) => first.live(model),
    last: (model) => first.last(model),
    list: () => first.list(),
    history: (model, page) => first.history(model, page),
    set: (model, rates) => changed(first.set(model, rates)),
    pin: (model, rates) => changed(first.pin(model, rates)),
    unpin: (model) => changed(first.unpin(model)),
    move: (unchangedSince, next) => first.move(unchangedSince, next),
    refresh: () => first.refresh(),
    async adopt(models) {
      await first.adopt(models);
      await spread((prices) => prices.adopt(models));
    },
  };
}
