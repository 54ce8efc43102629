import { join } from "node:path";
import { markRandom } from "../../../lib/ids/shard.ts";
import type { Logger } from "../../../lib/logger.ts";
import { systemClock } from "../../../lib/time/clock.ts";
import { repeat } from "../../../lib/time/repeat.ts";
import { verifyPeppers } from "../../accounts/keys/verify-peppers.ts";
import { createAnnounce } from "../../events/announcer.ts";
import type { PriceList } from "../../metering/prices/price-list.ts";
import { createPrices } from "../../metering/prices/prices.ts";
import { probeServer } from "../../storage/availability/probe.ts";
import { isUnreachable } from "../../storage/availability/unreachable.ts";
import { DatabaseClock } from "../../storage/database-clock.ts";
import { openStorage } from "../../storage/orm.ts";
import { claimShard, FirstIsAway, noteMade, wasMade } from "../../storage/shard-mark.ts";
import { type Books, composeBooks, openGround } from "../core/books/books.ts";
import type { Foundation } from "../core/foundation.ts";
import type { ShardObservers } from "./observer.ts";
import type { Shards } from "./shards.ts";

/** One database of accounts with its books. */
export interface Shard {
  readonly foundation: Foundation;
  readonly books: Books;
}

const reopenMs = 2000;

/**
 * Opens the databases of `storage.shards`, each with its own journal, and the first one by `openFirst` if it was away
 * until now. A database that cannot be reached is tried again and again, while the others serve. Throws, in words, for
 * one that must not be used, and when none can be reached. Returns the function that closes them.
 */
export async function openShards(
  foundation: Foundation,
  shards: Shards<Shard>,
  { observers, openFirst }: { readonly observers: ShardObservers; readonly openFirst: () => Promise<Shard> },
): Promise<() => Promise<void>> {
  const { logger, awayFirst, clock, storage } = foundation;
  const closes: (() => Promise<void>)[] = [];
  const stopTrying: (() => void)[] = [];
  const open = async (number: number): Promise<void> => {
    const opened = await openShard(foundation, { number, observers });
    closes.push(opened.close);
    shards.add(number, opened.shard);
  };
  const openAwayFirst = async (): Promise<void> => {
    await awayFirst?.reach();
    await clock.follow(storage);
    const shard = await openFirst();
    closes.push(() => shard.books.ledger.close());
    shards.add(0, shard);
  };
  const tryAgain = (number: number, error: unknown) => {
    logger.error({ error, shard: number }, "a database of accounts is away: its accounts are not served");
    const stop = repeat(systemClock, reopenMs, toShardLogger(logger, number), "open this database", async () => {
      await (number === 0 ? openAwayFirst() : open(number));
      stop();
      logger.info({ shard: number }, "a database of accounts is there");
    });
    stopTrying.push(stop);
  };
  const close = async () => {
    for (const stop of stopTrying) {
      stop();
    }
    await Promise.all(closes.map((close) => close()));
  };
  try {
    await Promise.all(
      shards.numbers.slice(1).map((number) =>
        open(number).catch((error: unknown) => {
          if (!isAway(error)) {
            throw error;
          }
          tryAgain(number, error);
        }),
      ),
    );
    const [present] = shards.present();
    if (awayFirst !== undefined) {
      if (present === undefined) {
        throw awayFirst.error;
      }
      await clock.follow(present.foundation.storage);
      tryAgain(0, awayFirst.error);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}

/** Whether a database may be tried again: it is away, or cannot be judged before the first one is there. */
function isAway(error: unknown): boolean {
  return isUnreachable(error) || (error as Error).cause instanceof FirstIsAway;
}

interface Place {
  readonly number: number;
  readonly observers: ShardObservers;
}

async function openShard(first: Foundation, { number, observers }: Place) {
  const { config, secrets, catalogue, tracer, serviceName } = first;
  const logger = toShardLogger(first.logger, number);
  const url = secrets.shardUrls[number - 1] as string;
  const where = `storage.shards[${number - 1}]`;
  const storage = await explained(where, async () => {
    await probeServer(url);
    return openStorage(url, undefined, (found) => logger.warn({ found }, "the database server is dangerous"));
  });
  let stopMeasuring = () => {};
  try {
    await explained(where, async () => {
      const wasThere = () => wasMade(first.storage, number);
      serviceName.adopt(await claimShard(storage, serviceName.known, number, wasThere));
      await verifyPeppers(storage, secrets.peppers);
    });
    await noteMade(first.storage, number).catch((error: unknown) =>
      logger.debug({ error }, "the first database will hear of this one at another start"),
    );
    const clock = await DatabaseClock.open(storage, systemClock, logger);
    stopMeasuring = clock.keepMeasuring();
    const random = markRandom(first.random, number);
    const foundation: Foundation = {
      ...{ config, catalogue, tracer, serviceName, logger, random, clock, storage },
      secrets: {
        ...secrets,
        storageUrl: url,
        listenUrl: undefined,
        dataDir: toShardDirectory(secrets.dataDir, number),
      },
      metrics: { ...first.metrics, ...observers.of(number) },
      announce: createAnnounce({ clock, random }),
      async stop() {
        stopMeasuring();
        await storage.close();
      },
    };
    const models = catalogue.list();
    const prices = await createPrices({ storage, clock, random, models, copyOf: first.storage });
    const books = await openBooks(foundation, prices);
    const close = async () => {
      await books.ledger.close();
      await foundation.stop();
    };
    return { shard: { foundation, books }, close };
  } catch (error) {
    stopMeasuring();
    await storage.close();
    throw error;
  }
}

/** Opens the books. If that fails, gives the journal back, so that the next try finds it with everything unfinished. */
export async function openBooks(foundation: Foundation, prices: PriceList): Promise<Books> {
  const ground = openGround(foundation);
  try {
    return await composeBooks(foundation, prices, ground);
  } catch (error) {
    await ground.store.end();
    await ground.journal.close();
    throw error;
  }
}

/** The directory of a shard's journal and archives. */
export function toShardDirectory(directory: string, number: number): string {
  return number === 0 ? directory : join(directory, "shards", String(number));
}

/** Runs a function. Its errors then name the part of the configuration that they are about. */
async function explained<T>(where: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
  }
}

/** A logger whose lines name the shard. */
function toShardLogger(logger: Logger, shard: number): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) => logger[level]({ shard, ...fields }, message);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
