import { inspect } from "node:util";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import type { Logger } from "#lib/logger.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { configSchema, type ModelConfig } from "#src/config/schema.ts";
import { createFunds } from "#src/money/books/payments/funds.ts";
import { type Journal, noJournal } from "#src/money/journal/journal.ts";
import { createLedger } from "#src/money/ledger/ledger.ts";
import { DeadLetters } from "#src/money/ledger/settlement/dead-letters.ts";
import { createDebts } from "#src/money/ledger/wallet/debts.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold, HoldRequest } from "#src/money/model/ledger.ts";
import type { Funds } from "#src/money/model/payments.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { PriceBook } from "#src/money/prices/price-book.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { readKeptFrom } from "#src/money/store/kept-from.ts";
import { BalanceEvents } from "#src/money/thresholds/balance-events.ts";
import { DatabaseClock } from "#src/storage/database-clock.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import type { StandbyOptions } from "#src/storage/postgresql/standby.ts";
import type { Patience, Storage } from "#src/storage/storage.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { attendWork } from "./attend-work.ts";
import { silentObserver } from "./silent-observer.ts";

/** One USD in pico-USD. */
export const usd = 1_000_000_000_000;

/** The model of most tests: 0.20 USD in, 0.25 USD out. */
export const testModel = "plain";

/** Metering over a real database. */
export interface Metering {
  readonly storage: Storage;
  /** The time that money lives by: read from the database once, then carried on by the test's clock. */
  readonly time: DatabaseClock;
  readonly store: LedgerStore;
  readonly prices: PriceList;
  readonly deadLetters: DeadLetters;
  readonly ledger: CoreLedger;
  readonly funds: Funds;
  readonly balances: BalanceEvents;
  readonly log: string[];
  /** Opens an account with money. */
  account(money?: { free?: number; paid?: number }): Promise<string>;
  close(): Promise<void>;
}

export function models(...entries: object[]): readonly ModelConfig[] {
  const servers = [{ url: "http://127.0.0.1:1" }];
  return configSchema.parse({ models: [{ id: testModel }, ...entries].map((entry) => ({ servers, ...entry })) }).models;
}

export async function openMetering(
  options: {
    url?: string;
    patience?: Patience;
    clock?: Clock;
    journal?: Journal;
    models?: readonly ModelConfig[];
    /** Rates that the price book remembers. */
    bookSize?: number;
    coreId?: string;
    /** The server itself, where the URL is a pooler's. */
    listenUrl?: string;
    /** What answers long reads. */
    standby?: StandbyOptions;
    /** What the thread of a SQLite file is watched by: the system's, as it works in real time. */
    threadClock?: Clock;
    /** Notes charges for a receiver of usage events. */
    usageEvents?: boolean;
    /** Takes what is logged. */
    log?: string[];
    wrap?: (store: LedgerStore) => LedgerStore;
  } = {},
): Promise<Metering> {
  const clock = options.clock ?? new ManualClock(Date.now());
  const storage = await openStorage(options.url ?? "sqlite::memory:", options.patience, undefined, {
    standby: options.standby,
  });
  const log = options.log ?? [];
  const note = (fields: object, message: string) => void log.push(`${message} ${inspect(fields)}`);
  const logger: Logger = { debug: () => {}, info: note, warn: note, error: note };
  const time = await DatabaseClock.open(storage, clock, logger);
  const book = new PriceBook(storage, options.bookSize);
  const prices = await createPrices({ storage, clock: time, models: options.models ?? models(), book });
  const bare = createLedgerStore(storage, systemRandom, options.coreId ?? v7(), {
    clock: options.threadClock ?? systemClock,
    ...{ listenUrl: options.listenUrl, usageEvents: options.usageEvents ?? false },
    ended: (error, restartMs) => note({ error, restartMs }, "the ledger's thread ended"),
  });
  const attended = clock instanceof ManualClock ? attendWork(clock, storage, bare) : bare;
  const store = options.wrap?.(attended) ?? attended;
  const journal = options.journal ?? noJournal;
  const deadLetters = new DeadLetters({ storage, clock, coreId: options.coreId ?? "core" });
  const announce = createAnnounce({ clock: time, random: systemRandom });
  const balances = new BalanceEvents({ prices, clock: time, announce });
  const debts = createDebts({ storage, clock: time, random: systemRandom, balances });
  const opening = createLedger({
    ...{
      store,
      debts,
      prices,
      journal,
      deadLetters,
      clock: time,
      random: systemRandom,
      logger,
      observer: silentObserver,
      readKeptFrom: () => readKeptFrom(storage),
      turns: storage.dialect === "postgresql" ? () => storage.history.turns : undefined,
    },
  });
  const ledger = await (clock instanceof ManualClock ? clock.until(opening) : opening);
  const limits = { minimum: BigInt(usd), maximum: 1000n * BigInt(usd), rolling24h: 2000n * BigInt(usd) };
  const funds = createFunds({ storage, ledger, limits, clock: time, random: systemRandom, balances });
  return {
    storage,
    time,
    store,
    prices,
    deadLetters,
    ledger,
    funds,
    balances,
    log,
    async account({ free = 0, paid = 0 } = {}) {
      const id = v7();
      await funds.open({ id, name: "", maxKeys: 20 }, free);
      if (paid > 0) {
        await funds.credit({ accountId: id, kind: "paid", amount: paid, reference: v7() });
      }
      return id;
    },
    async close() {
      await ledger.close();
      await storage.close();
    },
  };
}

/** A request to hold money for, with a new id. */
export function request(accountId: string, tokens: ChargedTokens, more: Partial<HoldRequest> = {}): HoldRequest {
  return { requestId: newRequestId(systemRandom), accountId, keyId: "", model: testModel, ...tokens, ...more };
}

export const never = new AbortController().signal;

/** Holds and settles all that was held. */
export async function run(ledger: CoreLedger, of: HoldRequest, tokens?: ChargedTokens): Promise<Hold> {
  const hold = await ledger.hold(of, never);
  await hold.settle(tokens ?? { inputTokens: of.inputTokens, outputTokens: hold.outputTokens }, "completed");
  return hold;
}
