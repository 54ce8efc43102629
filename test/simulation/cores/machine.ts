import type { Clock } from "#lib/time/clock.ts";
import { composeMoney, type Money } from "#src/compose/core/money/money.ts";
import { configSchema } from "#src/config/schema.ts";
import { startBackground } from "#src/money/background.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import type { MeteringObserver } from "#src/money/model/observer.ts";
import { type OwnTerms, ownRates } from "#src/money/model/prices/own-prices.ts";
import type { Rates } from "#src/money/model/rates.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { readOwnPrices, setOwnPrices } from "#src/money/prices/own-prices.ts";
import { PriceBook } from "#src/money/prices/price-book.ts";
import { PostgresqlLedgerStore } from "#src/money/store/postgresql/store.ts";
import { SqliteLedgerStore } from "#src/money/store/sqlite/store.ts";
import { DatabaseClock } from "#src/storage/database-clock.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { localStorage } from "../database/local.ts";
import { type Ear, simulatedPool } from "../database/pool.ts";
import type { SimulatedServer } from "../database/server.ts";
import { simulatedStorage } from "../database/storage.ts";
import { type NetworkFaults, Wire } from "../database/wire.ts";
import type { Dice } from "../world/dice.ts";
import { SimulatedDisk } from "../world/disk.ts";
import type { History } from "../world/history.ts";
import type { News } from "../world/news.ts";
import type { Night } from "../world/night.ts";
import { type MachineTime, SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import { Door } from "./door.ts";
import { keptLabels } from "./labels.ts";
import { startNews } from "./news-work.ts";
import { startNight } from "./night-work.ts";
import { dailyCapUsd } from "./retries.ts";

/** The parts of the world that a machine uses. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly server: SimulatedServer;
  readonly dice: Dice;
  readonly history: History;
  readonly ears: Set<Ear>;
  /** Whether the database is a SQLite file on the only machine, instead of a server. */
  readonly isSqlite: boolean;
  /** The night in which receipts leave the books. Undefined: they stay. */
  readonly night: () => Night | undefined;
  /** Who is told of charges and thresholds. Undefined: nobody. */
  readonly news: () => News | undefined;
  /** Whether cores look keys up. */
  readonly hasKeys: boolean;
  /** The most rates that a core's price book keeps in memory. Undefined: as in the product. */
  readonly bookSize: number | undefined;
  /** Whether accounts may pay little within 24 hours. */
  readonly hasRetries: boolean;
  /** Changes parts of a core, so that judges must notice. */
  readonly alter: (money: Money) => void;
}

/** Milliseconds until a service manager restarts a program that ended by itself. */
const restartMs = 2000;

/** Milliseconds that a stopping core waits for its requests, and between two checks. */
const graceMs = 20_000;
const lookMs = 100;

/** Requests that wait for their keys at once. */
const mostWaiting = 300;

/** What an account is told that its next payment pays. */
export interface ToldPrices {
  /** The own prices that it has. Undefined: none. */
  readonly own: string | undefined;
  readonly models: readonly { readonly model: string; readonly general: Rates; readonly told: Rates }[];
}

/** A running core. */
export interface Life {
  readonly process: SimulatedProcess;
  /** When it began to serve, in the world's milliseconds. */
  readonly servesSince: number;
  readonly money: Money;
  /** What it takes for the time. */
  readonly clock: Clock;
  readonly coreId: string;
  /** Undefined: keys are the world's own. */
  readonly door: Door | undefined;
  /** Sets an account's own prices, as the core's accounts service does. */
  setOwnPrices(accountId: string, terms: OwnTerms): Promise<void>;
  /** Tells an account what its next payment pays, as the core's payments service does. */
  tellPrices(accountId: string): Promise<ToldPrices>;
}

/** Milliseconds within which a core has compared what it recovered with the database. */
const comparedMs = 65_000;

/** Whether a core has compared what it recovered: a charge of its predecessor may have been stored for less than it knows. */
export const hasCompared = ({ servesSince }: Life, now: number): boolean => now - servesSince > comparedMs;

export const modelNames = ["small", "large"] as const;
export type ModelName = (typeof modelNames)[number];

/** The configuration of every core. Prices may change at a restart. */
export function configOf(large: string, dailyCapUsd = 1_000_000) {
  const servers = [{ url: "http://127.0.0.1:1" }];
  const price = (input: string, output: string) => ({ input, output });
  return configSchema.parse({
    models: [
      { id: "small", servers, price: price("0.20", "0.25") },
      { id: "large", servers, price: { ...price(large, "2.50"), floor: 0.5, ceiling: 2 } },
    ],
    rate_tiers: [{ paid_usd: "0", age_days: 0, rpm: 3000 }],
    free_tier: { rpm: 2000 },
    labels: keptLabels,
    payments: { minimum_usd: "0", maximum_usd: "50", rolling_24h_usd: String(dailyCapUsd) },
  });
}

/** A machine with its own disk and clocks. A core is restarted on it whenever it ends. */
export class Machine {
  readonly name: string;
  readonly disk: SimulatedDisk;
  readonly time: MachineTime;
  readonly network: NetworkFaults = {
    ...{ lost: 0, replyLost: 0, late: 0, slow: 0, underWay: 0, isDown: false, losesReplyOf: "" },
  };
  readonly #around: Surroundings;
  readonly #dice: Dice;
  config: ReturnType<typeof configOf>;
  /** Undefined: no core runs here, or it has not started yet. */
  life: Life | undefined;
  #process: SimulatedProcess | undefined;
  #lives = 0;
  /** Requests that wait for their keys. Undefined: look-ups are answered at once. */
  #waiting: (() => void)[] | undefined;
  /** Cancels a planned restart. */
  #cancelStart = () => {};
  /** Whether the machine stays away. */
  isGone = false;
  /** Why the last start failed. */
  failure: unknown;
  failures = 0;

  /** `disk` absent: the machine gets a new disk. */
  constructor(name: string, around: Surroundings, rate: number, disk?: SimulatedDisk) {
    this.name = name;
    this.#around = around;
    this.#dice = around.dice.fork(name);
    this.config = this.#configOf("2.00");
    this.disk = disk ?? new SimulatedDisk(name, around.timeline, around.dice.fork(`${name}'s disk`));
    this.time = { offsetMs: 0, rate };
  }

  /** Runs a request once its key is looked up: at once, unless look-ups wait. Returns false: too many wait already. */
  lookUp(ask: () => void): boolean {
    if (this.#waiting === undefined) {
      ask();
      return true;
    }
    return this.#waiting.length < mostWaiting && this.#waiting.push(ask) > 0;
  }

  /** Lets requests wait for their keys for `ms`. Then all go on in the same moment. */
  pileUp(ms: number): void {
    this.#waiting ??= [];
    this.#around.timeline.after(ms, () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const ask of waiting) {
        ask();
      }
    });
  }

  get process(): SimulatedProcess | undefined {
    return this.#process;
  }

  /** Starts a core after `ms`, unless one runs. */
  startAfter(ms: number): void {
    this.#cancelStart();
    this.#cancelStart = this.#around.timeline.after(ms, () => this.start());
  }

  /** After `ms`, kills the process if it has not ended, as the service manager does, and starts a core if none runs. */
  restartAfter(ms: number): void {
    const process = this.#process;
    this.#around.timeline.after(ms, () => {
      process?.kill();
      this.start();
    });
  }

  #configOf(large: string) {
    return configOf(large, this.#around.hasRetries ? dailyCapUsd : undefined);
  }

  /** Sets the price of the large model for the next core here. */
  configure(large: string): void {
    this.config = this.#configOf(large);
  }

  start(): void {
    if (this.#process?.alive || this.isGone) {
      return;
    }
    const { timeline, history } = this.#around;
    const process = new SimulatedProcess(`${this.name}, life ${this.#lives + 1}`, timeline, this.time);
    this.#process = process;
    this.life = undefined;
    this.#lives++;
    history.note(`${this.name} starts`);
    process.onDeath(() => {
      this.life = undefined;
      history.note(`${this.name} is dead`);
    });
    this.#open(process).then(
      (opened) => {
        if (process.alive) {
          this.life = { process, servesSince: timeline.now, ...opened };
          this.failures = 0;
          history.note(`${this.name} serves`);
        }
      },
      (error: unknown) => {
        if (process.alive) {
          this.failure = error;
          this.failures++;
          history.note(`${this.name} could not start: ${(error as Error).message}`);
          process.kill();
          this.startAfter(restartMs);
        }
      },
    );
  }

  async #open(process: SimulatedProcess): Promise<Omit<Life, "process" | "servesSince">> {
    const { timeline, history, alter, bookSize } = this.#around;
    const random = this.#around.dice.fork(`${this.name} ${this.#lives}`, () => process.now());
    const { storage, openStore } = this.#openDatabase(process);
    const logger = history.logger(this.name, process);
    const observer: MeteringObserver = { ...silent, ...history.observer(this.name) };
    const clock = await DatabaseClock.open(storage, process, logger);
    clock.keepMeasuring();
    const peppers = [{ id: "simulated", secret: Buffer.alloc(32) }];
    const secrets = { dataDir: "/data", rateLimitUrl: "memory:", peppers } as never;
    const { config } = this;
    const news = this.#around.news();
    const announce = news === undefined ? async () => {} : createAnnounce({ clock, random });
    let coreId = "";
    const money = await composeMoney(
      {
        config,
        secrets,
        logger,
        metrics: { metering: observer, labels() {} } as never,
        random,
        clock,
        storage,
        announce,
        priceBook: new PriceBook(storage, bookSize),
      },
      () => {
        const journal = openJournal("/data/cores", { clock, random, logger, disk: this.disk.of(process) });
        coreId = journal.coreId;
        return { journal, store: openStore(random, coreId) };
      },
    );
    alter(money);
    const { prices, ledger, store, deadLetters, balances } = money;
    const pricing = { interval_s: 30, max_step: 0.1 };
    const utilisation = () => 0.4 + 0.6 * Math.abs(Math.sin(timeline.now / 100_000));
    startBackground({
      ...{ storage, store, ledger, prices, models: () => config.models, utilisation, pricing, clock, random, logger },
      ...{ deadLetters, observer, balances },
    });
    const night = this.#around.night();
    if (night !== undefined) {
      startNight(night, { process, money, storage, clock, random, logger });
    }
    if (news !== undefined) {
      startNews(news, { process, money, storage, announce, clock, random, logger });
    }
    return {
      money,
      clock,
      coreId,
      door: this.#around.hasKeys ? new Door({ storage, ledger, clock, random, logger }) : undefined,
      setOwnPrices: (accountId, terms) =>
        setOwnPrices({ storage, clock, random }, { accountId, terms }, async () => {}),
      tellPrices: async (accountId) => {
        const own = await readOwnPrices(storage.orm.em.fork(), accountId);
        const models = prices.list().map(({ model, live }) => ({
          model,
          general: live,
          told: own === undefined ? live : ownRates(live, own, model),
        }));
        return { own: own?.id, models };
      },
    };
  }

  /** The database as a process sees it, with the ledger's statements for it. */
  #openDatabase(process: SimulatedProcess): {
    storage: Storage;
    openStore: (random: Dice, core: string) => LedgerStore;
  } {
    const { timeline, server, ears, history, isSqlite } = this.#around;
    const usageEvents = this.#around.news() !== undefined;
    if (isSqlite) {
      const storage = localStorage(server, { timeline, process, dice: this.#dice });
      return {
        storage,
        openStore: (random, core) => new SqliteLedgerStore(storage.exclusive, random, core, { usageEvents }),
      };
    }
    const noted = (fault: string) => history.fault(`${this.name}: ${fault}`);
    const wire = new Wire({ timeline, process, dice: this.#dice, faults: this.network, noted });
    const pool = simulatedPool({ timeline, process, wire, server, ears });
    // Half a year takes a minute at night: charges of the last two minutes are in archives then, and not lost.
    const storage = simulatedStorage(server, wire, pool, this.#around.night() === undefined);
    return {
      storage,
      openStore: (random, core) =>
        Object.assign(
          new PostgresqlLedgerStore({ pool, pooled: false, history: storage.history }, random, core, { usageEvents }),
          { makeDays: async () => undefined }, // a matter of the real server alone
        ),
    };
  }

  kill(): void {
    this.#cancelStart();
    this.#process?.kill();
  }

  /**
   * Ends the core like SIGTERM: no new requests, running ones end, then the ledger closes. Resolves when it is over.
   */
  async stop(): Promise<void> {
    this.#cancelStart();
    const { life } = this;
    if (life === undefined) {
      this.kill();
      return;
    }
    this.life = undefined;
    const { process, money } = life;
    for (let waitedMs = 0; process.requests > 0 && waitedMs < graceMs; waitedMs += lookMs) {
      await new Promise<void>((resolve) => this.#around.timeline.after(lookMs, resolve));
    }
    if (process.requests === 0) {
      await money
        .stop()
        .catch((error: unknown) => this.#around.history.note(`${this.name} ends badly: ${String(error)}`));
    }
    process.kill(); // as the service manager kills what still runs
  }
}

const silent: MeteringObserver = {
  ...{
    charged() {},
    uncharged() {},
    deadLettered() {},
    deadLetters() {},
    daysAhead() {},
    dayMissing() {},
    committed() {},
    refused() {},
  },
  ...{ putBack() {}, fenced() {}, broken() {}, threadEnded() {}, reconciled() {}, provedElsewhere() {} },
};
