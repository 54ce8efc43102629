/**
 * A core's ledger under load, in a process of its own: holds and settlements as the core's services ask for them,
 * without the HTTP around them. Arguments: storage URL, data directory, number of accounts. The parent sends jobs; each
 * is answered with a measurement, and the question whether the books add up with the proof. Retention of receipts is begun,
 * stands still, goes on and tells how far it is, when it is asked to.
 */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { systemRandom } from "../../../lib/ids/random.ts";
import { newRequestId } from "../../../lib/ids/request-id.ts";
import { systemClock } from "../../../lib/time/clock.ts";
import { configSchema } from "../../../src/config/schema.ts";
import { createDebts } from "../../../src/metering/books/debts.ts";
import { reconcile } from "../../../src/metering/books/proof/reconcile.ts";
import { DeadLetters } from "../../../src/metering/dead-letters/dead-letters.ts";
import { openJournal } from "../../../src/metering/journal/open-journal.ts";
import type { CoreLedger } from "../../../src/metering/ledger/core-ledger.ts";
import { createLedger } from "../../../src/metering/ledger/ledger.ts";
import { createPrices } from "../../../src/metering/prices/prices.ts";
import { readKeptFrom } from "../../../src/metering/retention/kept-from.ts";
import { createLedgerStore } from "../../../src/metering/store/create.ts";
import { openStorage } from "../../../src/storage/orm.ts";
import { silentObserver } from "../../metering/silent-observer.ts";
import { machineUsage, usage } from "../measure/cpu.ts";
import { type Percentiles, percentiles } from "../report/statistics.ts";
import { createAccounts } from "./accounts.ts";
import { type Counts, countCalls, countRoundTrips } from "./counted-store.ts";
import type { Arrivals } from "./pacer.ts";
import { type Retaining, retain } from "./retain.ts";

/** Requests a second, which come whether the ones before were settled or not; or so many at once, all the time. */
export type LedgerLoad = { readonly rate: number } | { readonly atOnce: number };

/** What the parent asks for. */
export interface LedgerJob {
  readonly load: LedgerLoad;
  /** Milliseconds of load before and while it is measured. */
  readonly warmUp: number;
  readonly duration: number;
  /** The database server's processes, whose CPU time is read at both ends. */
  readonly processes: readonly number[];
}

/** What was seen between the two ends. Times in milliseconds, CPU time in microseconds. */
export interface LedgerMeasurement {
  readonly duration: number;
  /** Charges that the store has taken. */
  readonly settled: number;
  /** From a request's coming until its money is held; the time that it waits for the event loop is part of it. */
  readonly hold: Percentiles;
  /** From the end of a request until its charge is durable. */
  readonly acknowledgement: Percentiles;
  /** Of the event loop's thread. */
  readonly mainCpu: number;
  /** Of the process's other threads: the writer of a SQLite file, garbage collection. */
  readonly otherCpu: number;
  /** Of the database server. */
  readonly databaseCpu: number;
  /** Transactions, and round trips to the database server. */
  readonly commits: number;
  readonly roundTrips: number;
  /** Holds that waited for an answer of the store. */
  readonly waited: number;
  /** The part of the machine's CPU that processes outside of the benchmark took, 0 to 1. */
  readonly disturbance: number;
  /** What went wrong at any time, at most ten of them; a load with errors proves nothing. */
  readonly errors: readonly string[];
}

/** How long a paced request runs: long enough to be in the journal, like those of real models. */
const runsMs = 100;
const testModel = "model";
const never = new AbortController().signal;
const wanted = { keyId: "", model: testModel, inputTokens: 1200, outputTokens: 1000 };
const used = { inputTokens: 1000, outputTokens: 300 };

/** Milliseconds by the monotonic clock that all threads have in common. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Sends requests and writes down what becomes of them. */
class Requests {
  readonly #ledger: CoreLedger;
  readonly #accounts: readonly string[];
  readonly #counts: Counts;
  waited = 0;
  hold: number[] = [];
  acknowledgement: number[] = [];
  readonly errors: string[] = [];

  constructor(ledger: CoreLedger, accounts: readonly string[], counts: Counts) {
    this.#ledger = ledger;
    this.#accounts = accounts;
    this.#counts = counts;
  }

  /** One request, from its coming to its charge. */
  async run(at: number, end?: Promise<void>, account = this.#any()): Promise<void> {
    try {
      const answers = this.#counts.answers;
      const hold = await this.#ledger.hold(
        { requestId: newRequestId(systemRandom), accountId: account, ...wanted },
        never,
      );
      this.hold.push(now() - at);
      // An answer comes in a later turn of the event loop, so a hold that needed none saw none.
      if (this.#counts.answers !== answers) {
        this.waited++;
      }
      if (end !== undefined) {
        await end;
      }
      hold.progress(used);
      const ended = now();
      await hold.settle(used, "completed");
      this.acknowledgement.push(now() - ended);
    } catch (error) {
      if (this.errors.length < 10) {
        this.errors.push(String(error));
      }
    }
  }

  /** Every account's money once, so that all are warm. */
  async touchAll(): Promise<void> {
    for (let from = 0; from < this.#accounts.length; from += 500) {
      await Promise.all(this.#accounts.slice(from, from + 500).map((account) => this.run(now(), undefined, account)));
    }
  }

  #any(): string {
    return this.#accounts[Math.floor(systemRandom.fraction() * this.#accounts.length)] ?? "";
  }
}

/** A load that goes on until it is stopped. */
interface Running {
  stop(): Promise<void>;
  /** CPU time of the thread that only makes the load. */
  ownCpu(): Promise<number>;
}

function start(load: LedgerLoad, requests: Requests): Running {
  return "rate" in load ? startPaced(load.rate, requests) : startAtOnce(load.atOnce, requests);
}

/** Each ends as soon as it is admitted, and the next one comes when it is settled. */
function startAtOnce(count: number, requests: Requests): Running {
  let running = true;
  const loops = Array.from({ length: count }, async () => {
    while (running && requests.errors.length === 0) {
      await requests.run(now());
    }
  });
  return {
    async stop() {
      running = false;
      await Promise.all(loops);
    },
    ownCpu: async () => 0,
  };
}

function startPaced(rate: number, requests: Requests): Running {
  const pacer = new Worker(new URL("./pacer.ts", import.meta.url), { workerData: { rate } });
  const open = new Set<Promise<void>>();
  pacer.on("message", ({ count, at }: Arrivals) => {
    const end = new Promise<void>((resolve) => setTimeout(resolve, runsMs));
    for (let each = 0; each < count; each++) {
      const request: Promise<void> = requests.run(at, end).finally(() => open.delete(request));
      open.add(request);
    }
  });
  return {
    async stop() {
      await pacer.terminate();
      await Promise.all(open);
    },
    ownCpu: async () => sum(await pacer.cpuUsage()),
  };
}

async function measure(job: LedgerJob, requests: Requests, counts: Counts): Promise<LedgerMeasurement> {
  const load = start(job.load, requests);

  const look = async () => ({
    ...counts,
    at: now(),
    waited: requests.waited,
    main: sum(process.threadCpuUsage()),
    process: sum(process.cpuUsage()),
    own: await load.ownCpu(),
  });
  await sleep(job.warmUp);
  const [database, others] = [usage(job.processes).cpu, machineUsage() - usage([process.ppid]).cpu];
  const before = await look();
  requests.hold = [];
  requests.acknowledgement = [];
  await sleep(job.duration);
  const { hold, acknowledgement } = requests;
  const after = await look();
  const past = (name: keyof typeof before) => after[name] - before[name];
  const databaseCpu = usage(job.processes).cpu - database;
  const othersCpu = machineUsage() - usage([process.ppid]).cpu - others;
  await load.stop();
  return {
    duration: past("at"),
    settled: past("settled"),
    hold: percentiles(hold),
    acknowledgement: percentiles(acknowledgement),
    mainCpu: past("main"),
    otherCpu: past("process") - past("main") - past("own"),
    databaseCpu,
    commits: past("commits"),
    roundTrips: past("roundTrips"),
    waited: past("waited"),
    disturbance: othersCpu / (past("at") * 1000 * availableParallelism()),
    errors: requests.errors,
  };
}

const sum = ({ user, system }: NodeJS.CpuUsage) => user + system;
process.on("disconnect", () => process.exit()); // and meanwhile the channel keeps the process alive
const [url = "", directory = "", accounts = ""] = process.argv.slice(2);
const parts = { clock: systemClock, random: systemRandom };
const complain = (fields: object, message: string) => console.error(message, fields);
const logger = { debug() {}, info() {}, warn: complain, error: complain };
const counts: Counts = { commits: 0, answers: 0, roundTrips: 0, settled: 0 };
const storage = await openStorage(url);
if (storage.dialect === "postgresql") {
  countRoundTrips(storage.pool, counts);
}
const { models } = configSchema.parse({ models: [{ id: testModel, servers: [{ url: "http://127.0.0.1:1" }] }] });
const prices = await createPrices({ storage, ...parts, models });
const journal = openJournal(directory, { ...parts, logger });
const store = countCalls(createLedgerStore(storage, systemRandom, journal.coreId), counts);
const observer = { ...silentObserver, charged: () => void counts.settled++ };
const deadLetters = new DeadLetters({ storage, clock: systemClock, coreId: journal.coreId });
const ledger = await createLedger({
  ...{
    store,
    debts: createDebts({ storage, ...parts }),
    prices,
    journal,
    deadLetters,
    clock: systemClock,
    random: systemRandom,
    logger,
    observer,
    readKeptFrom: () => readKeptFrom(storage),
  },
});
const requests = new Requests(ledger, await createAccounts(storage, systemRandom, Number(accounts)), counts);
await requests.touchAll();

/** Whether the books add up, and if not what is wrong. */
async function prove() {
  const { ok, findings } = await reconcile(storage);
  return { ok, findings: findings.map(({ $typeName: _, ...finding }) => finding) };
}

let retaining: Retaining | undefined;

process.on("message", async (asked: LedgerJob | "prove" | "retain" | "pause" | "retained") => {
  if (asked === "retain" || asked === "pause") {
    retaining ??= await retain({ storage, store, logger }, directory);
    retaining.pause(asked === "pause");
    process.send?.({});
  } else if (asked === "retained") {
    process.send?.(retaining?.tell());
  } else {
    process.send?.(asked === "prove" ? await prove() : await measure(asked, requests, counts));
  }
});
process.send?.({ port: 0 });
