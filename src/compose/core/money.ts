import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { registration } from "../../grpc/server/registration.ts";
import type { Funds } from "../../metering/books/payments/interface.ts";
import type { CoreLedger } from "../../metering/ledger/core-ledger.ts";
import { createMeteringService } from "../../metering/metering-service.ts";
import type { PriceList } from "../../metering/prices/price-list.ts";
import { createPrices } from "../../metering/prices/prices.ts";
import { createPricesService } from "../../metering/prices/prices-service.ts";
import { findRatePolicy } from "../../metering/rate-limits/max-rpm.ts";
import { openWindows } from "../../metering/rate-limits/open-windows.ts";
import { type ConfiguredRateLimits, createRateLimits } from "../../metering/rate-limits/rate-limits.ts";
import { createShardedBooksService } from "../shards/books-service.ts";
import { Claims } from "../shards/claims.ts";
import { routeFunds } from "../shards/funds.ts";
import { routeLedger } from "../shards/ledger.ts";
import { Moves } from "../shards/moves/moves.ts";
import { Places } from "../shards/moves/places.ts";
import { NewerDatabases } from "../shards/newer-databases.ts";
import { ShardObservers } from "../shards/observer.ts";
import { openBooks, openShards, type Shard } from "../shards/open-shards.ts";
import { spreadPrices } from "../shards/prices.ts";
import { Shards } from "../shards/shards.ts";
import { composeBooks, type MoneyFoundation, type MoneyGround, openGround, type Proof } from "./books/books.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";

/** Prices, the ledger, payments, rate limits. */
export interface Money extends Part {
  readonly prices: PriceList;
  /**
   * The oldest of the databases' last proofs. Undefined: one database was not proved yet, or has been away since the
   * start.
   */
  readonly lastProof: () => Proof | undefined;
  readonly ledger: CoreLedger;
  readonly funds: Funds;
  readonly windows: Awaited<ReturnType<typeof openWindows>>;
  readonly rateLimits: ConfiguredRateLimits;
  /** The databases of accounts with their books. */
  readonly shards: Shards<Shard>;
  /** Names that stand for one account in all databases. */
  readonly claims: Claims;
  /** Moves accounts between databases, and knows where they are. */
  readonly moves: Moves;
  /** Databases that the service got after this core's start. */
  readonly newer: NewerDatabases;
}

/** `open` opens the ground once there are prices. A simulation passes its own. */
export async function composeMoney(
  foundation: MoneyFoundation,
  open: (foundation: MoneyFoundation) => MoneyGround = openGround,
): Promise<Money> {
  const { config, secrets, logger, random, clock, storage, announce, priceBook: book } = foundation;
  const { shardUrls = [] } = secrets;
  const count = 1 + shardUrls.length;
  const areSeveral = count > 1;
  const newer = new NewerDatabases(count, logger);
  // Only callers that compose a whole core need the parts of a foundation besides its books.
  const whole = foundation as Foundation;
  const observers = new ShardObservers(whole.metrics);
  const openFirst = async (): Promise<Shard> => {
    const own = areSeveral ? { ...whole, metrics: { ...whole.metrics, ...observers.of(0) } } : whole;
    const pricing = { storage, clock, random, models: config.models, announce, ...(book && { book }) };
    const prices = await createPrices(pricing);
    // A failed start of a single database ends the process. With several databases it is tried again, and the next try
    // finds the journal only if it was given back.
    const books = areSeveral ? openBooks(own, prices) : composeBooks(own, prices, open(own));
    return { foundation: own, books: await books };
  };
  const first = whole.awayFirst === undefined ? await openFirst() : undefined;
  const places = new Places(clock);
  const shards = new Shards<Shard>(first, count, places, newer);
  const others = () =>
    shards
      .present()
      .map(({ foundation }) => foundation.storage)
      .filter((other) => other !== storage);
  const claims = new Claims(storage, others, clock);
  const closeShards = areSeveral ? await openShards(whole, shards, { observers, openFirst }) : async () => {};
  const moves = new Moves(shards, places, { logger, clock });
  await (areSeveral && moves.start());
  const prices = areSeveral ? spreadPrices(shards) : shards.first.books.prices;
  const ledger = areSeveral ? routeLedger(shards, moves) : shards.first.books.ledger;
  const windows = await openWindows(secrets.rateLimitUrl, { clock, random, logger });
  const rateLimits = createRateLimits({
    policy: findRatePolicy(config),
    windows,
    fundingState: (accountId) => ledger.fundingState(accountId),
    clock,
  });
  const storages = shards.map(({ foundation: { storage } }) => storage);
  const priced = () => shards.all().map(({ foundation: { storage }, books }) => ({ storage, book: books.prices.book }));
  return {
    ...{ prices, ledger, windows, rateLimits, shards, claims, moves, newer },
    lastProof: () => (shards.areMissing ? undefined : readOldest(shards.all().map(({ books }) => books.lastProof()))),
    funds: areSeveral ? routeFunds(shards, claims, moves) : shards.first.books.funds,
    services: [
      registration(MeteringService, createMeteringService({ storages })),
      registration(PricesService, createPricesService(prices, priced)),
      registration(BooksService, createShardedBooksService(shards)),
    ],
    async stop() {
      await shards.stop();
      await windows.close();
      await Promise.all([first?.books.ledger.close(), closeShards()]);
    },
  };
}

/** The oldest proof. Undefined: one is missing. */
function readOldest(proofs: readonly (Proof | undefined)[]): Proof | undefined {
  return proofs.reduce((oldest, proof) =>
    oldest === undefined || proof === undefined
      ? undefined
      : { at: Math.min(oldest.at, proof.at), ok: oldest.ok && proof.ok },
  );
}
