import { unavailable } from "../../metering/ledger/unavailable.ts";
import type { PriceList } from "../../metering/prices/price-list.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/**
 * The prices of the first database. The others take over its changes at once, or when they are there again. While the
 * first database has been away since the start, another one's prices are shown.
 */
export function spreadPrices(shards: Shards<Shard>): PriceList {
  const first = () => shards.first.books.prices;
  const known = () => {
    const [present] = shards.present();
    if (present === undefined) {
      throw unavailable("No database can be reached at the moment.");
    }
    return present.books.prices;
  };
  const copies = () => shards.present().filter((shard) => shard !== shards.find(0));
  // A copy that cannot be made now is made within seconds of the database's return.
  const spread = (change: (prices: PriceList) => Promise<void>) =>
    Promise.allSettled(copies().map(({ books }) => change(books.prices)));
  async function changed<T>(change: Promise<T>): Promise<T> {
    const done = await change;
    await spread((prices) => prices.refresh());
    return done;
  }
  return {
    get book() {
      return known().book;
    },
    live: (model) => known().live(model),
    last: (model) => known().last(model),
    list: () => known().list(),
    history: async (model, page) => first().history(model, page),
    set: async (model, rates) => changed(first().set(model, rates)),
    pin: async (model, rates) => changed(first().pin(model, rates)),
    unpin: async (model) => changed(first().unpin(model)),
    move: async (unchangedSince, next) => first().move(unchangedSince, next),
    refresh: async () => known().refresh(),
    async adopt(models) {
      await first().adopt(models);
      await spread((prices) => prices.adopt(models));
    },
  };
}
