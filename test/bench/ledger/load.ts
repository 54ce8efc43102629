/**
 * A core's ledger under load, in a process of its own: holds and settlements as the core's services ask for them,
 * without the HTTP around them. Arguments: storage URL, data directory, number of accounts, and "keys" if each pays by a key with a budget, or "labels" if each request has three. The parent sends jobs; each is answered with a measurement, and the question whether the books add up with the proof. Retention of receipts is begun,
 * stands still, goes on and tells how far it is, when it is asked to.
 */
import { execFileSync } from "node:child_process";
import { constants, mkdtempSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { createLedger } from "#src/money/ledger/ledger.ts";
import { DeadLetters } from "#src/money/ledger/settlement/dead-letters.ts";
import { createDebts } from "#src/money/ledger/wallet/debts.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { Hold, HoldRequest } from "#src/money/model/ledger.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { readKeptFrom } from "#src/money/store/kept-from.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { silentObserver } from "../../money/silent-observer.ts";
import { machineUsage, usage } from "../measure/cpu.ts";
import { createQueueClock } from "../measure/queue-clock.ts";
import { type Stalls, watchStalls } from "../measure/stalls.ts";
import { type Percentiles, percentiles } from "../report/statistics.ts";
import { createAccounts } from "./accounts.ts";
import { type Arrival, decodeArrivals } from "./arrival.ts";
import { type Counts, countCalls, countRoundTrips } from "./counted-store.ts";
import { someLabels } from "./labels.ts";
import { createKeys, type Payer, toPayer } from "./payers.ts";
import { type Retaining, retain } from "./retain.ts";

/** Whether requests have labels. */
const areLabelled = process.argv[5] === "labels";

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
  /** Whether turns of the event loop are watched, which is some work of its own. */
  readonly watched?: boolean;
}

/** What was seen between the two ends. Times in milliseconds, CPU time in microseconds. */
export interface LedgerMeasurement {
  readonly duration: number;
  /** Charges that the store has taken. */
  readonly settled: number;
  /** From a request's coming until its money is held; the time that it waits for the event loop is part of it. */
  readonly hold: Percentiles;
  /** The same without the time in which the event loop's thread was ready to run and the machine ran others. */
  readonly holdServed: Percentiles;
  /** From the end of a request until its charge is durable. */
  readonly acknowledgement: Percentiles;
  /** How long the event loop was kept from its timers, in CPU time. Undefined: it was not watched. */
  readonly stalls: Stalls | undefined;
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
  /** Holds that were refused because more charges waited for the store than may: it is the slowest part then. */
  readonly refused: number;
  /** The part of the machine's CPU that processes outside of the benchmark took, 0 to 1. */
  readonly disturbance: number;
  /** What went wrong at any time, at most ten of them; a load with errors proves nothing. */
  readonly errors: readonly string[];
}

/** How long a client rests that was refused. */
const restMs = 5;
/** How long a paced request runs: long enough to be in the journal, like those of real models. */
const runsMs = 100;
const testModel = "model";
const never = new AbortController().signal;
const wanted = { model: testModel, inputTokens: 1200, outputTokens: 1000 };
const used = { inputTokens: 1000, outputTokens: 300 };

/** Milliseconds by the monotonic clock that all threads have in common. */
const now = () => Number(process.hrtime.bigint()) / 1e6;
const queuedNow = createQueueClock();
/** The moment at which a request comes. */
const here = (): Arrival => ({ at: now(), queued: queuedNow() });

/** Sends requests and writes down what becomes of them. */
class Requests {
  readonly #ledger: Pick<CoreLedger, "hold">;
  readonly #payers: readonly Payer[];
  readonly #counts: Counts;
  waited = 0;
  refused = 0;
  hold: number[] = [];
  holdServed: number[] = [];
  acknowledgement: number[] = [];
  readonly errors: string[] = [];

  constructor(ledger: Pick<CoreLedger, "hold">, payers: readonly Payer[], counts: Counts) {
    this.#ledger = ledger;
    this.#payers = payers;
    this.#counts = counts;
  }

  /** One request, from its coming to its charge. */
  async run({ at, queued }: Arrival, end?: Promise<void>, payer = this.#any()): Promise<void> {
    try {
      const answers = this.#counts.answers;
      const hold = await this.#admit({
        requestId: newRequestId(systemRandom),
        ...payer,
        ...wanted,
        ...(areLabelled && { labels: someLabels() }),
      });
      if (hold === undefined) {
        await sleep(restMs);
        return;
      }
      const held = now() - at;
      this.hold.push(held);
      this.holdServed.push(Math.max(0, held - (queuedNow() - queued)));
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

  /** Holds money; undefined: usage cannot be recorded now. */
  async #admit(request: HoldRequest): Promise<Hold | undefined> {
    try {
      return await this.#ledger.hold(request, never);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unavailable) {
        throw error;
      }
      this.refused++;
      return undefined;
    }
  }

  /** Every account's money once, so that all are warm. */
  async touchAll(): Promise<void> {
    for (let from = 0; from < this.#payers.length; from += 500) {
      await Promise.all(this.#payers.slice(from, from + 500).map((payer) => this.run(here(), undefined, payer)));
    }
  }

  #any(): Payer {
    return this.#payers[Math.floor(systemRandom.fraction() * this.#payers.length)] ?? toPayer("");
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

/** Each ends as soon as it is admitted, and the next one comes when it is settled, or after a rest when it was refused. */
function startAtOnce(count: number, requests: Requests): Running {
  let running = true;
  const loops = Array.from({ length: count }, async () => {
    while (running && requests.errors.length === 0) {
      await requests.run(here());
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

/**
 * Requests come through a pipe, as those of clients come through sockets: a message of another thread holds a lock while it
 * wakes this one, which then waits for that thread to have a processor again.
 */
function startPaced(rate: number, requests: Requests): Running {
  const path = join(mkdtempSync(join(directory, "arrivals-")), "pipe");
  execFileSync("mkfifo", [path]);
  const pipe = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) });
  const pacer = new Worker(new URL("./pacer.ts", import.meta.url), { workerData: { rate, path } });
  const open = new Set<Promise<void>>();
  pipe.on("data", (bytes: Buffer) => {
    const end = new Promise<void>((resolve) => setTimeout(resolve, runsMs));
    for (const arrival of decodeArrivals(bytes)) {
      const request: Promise<void> = requests.run(arrival, end).finally(() => open.delete(request));
      open.add(request);
    }
  });
  return {
    async stop() {
      await pacer.terminate();
      pipe.destroy();
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
    refused: requests.refused,
    main: sum(process.threadCpuUsage()),
    process: sum(process.cpuUsage()),
    own: await load.ownCpu(),
  });
  await sleep(job.warmUp);
  const [database, others] = [usage(job.processes).cpu, machineUsage() - usage([process.ppid]).cpu];
  const before = await look();
  requests.hold = [];
  requests.holdServed = [];
  requests.acknowledgement = [];
  const tellStalls = job.watched === true ? watchStalls() : undefined;
  await sleep(job.duration);
  const { hold, holdServed, acknowledgement } = requests;
  const after = await look();
  const stalls = await tellStalls?.();
  const past = (name: keyof typeof before) => after[name] - before[name];
  const databaseCpu = Math.max(0, usage(job.processes).cpu - database); // within a tick of the kernel's clock
  const othersCpu = machineUsage() - usage([process.ppid]).cpu - others;
  await load.stop();
  return {
    duration: past("at"),
    settled: past("settled"),
    hold: percentiles(hold),
    holdServed: percentiles(holdServed),
    acknowledgement: percentiles(acknowledgement),
    stalls,
    mainCpu: past("main"),
    otherCpu: past("process") - past("main") - past("own"),
    databaseCpu,
    commits: past("commits"),
    roundTrips: past("roundTrips"),
    waited: past("waited"),
    refused: past("refused"),
    disturbance: othersCpu / (past("at") * 1000 * availableParallelism()),
    errors: requests.errors,
  };
}

const sum = ({ user, system }: NodeJS.CpuUsage) => user + system;
process.on("disconnect", () => process.exit()); // and meanwhile the channel keeps the process alive
const [url = "", directory = "", accounts = "", kind = ""] = process.argv.slice(2);
const complain = (fields: object, message: string) => console.error(message, fields);
const logger = { debug() {}, info() {}, warn: complain, error: complain };
const counts: Counts = { commits: 0, answers: 0, roundTrips: 0, settled: 0 };
const { models } = configSchema.parse({ models: [{ id: testModel, servers: [{ url: "http://127.0.0.1:1" }] }] });
const observer = { ...silentObserver, charged: () => void counts.settled++ };

/** Opens the ledger, and makes its accounts. */
async function open() {
  const storage = await openStorage(url);
  if (storage.dialect === "postgresql") {
    countRoundTrips(storage.pool, counts);
  }
  const random = systemRandom;
  const own = { clock: systemClock, random, logger };
  const prices = await createPrices({ storage, ...own, models });
  const journal = openJournal(join(directory, "0"), own);
  const store = countCalls(createLedgerStore(storage, random, journal.coreId), counts);
  const deadLetters = new DeadLetters({ storage, clock: systemClock, coreId: journal.coreId });
  const debts = createDebts({ storage, ...own });
  const ledger = await createLedger({
    ...{ ...own, store, debts, prices, journal, deadLetters, observer },
    readKeptFrom: () => readKeptFrom(storage),
  });
  const made = await createAccounts(storage, random, Number(accounts));
  const payers = kind === "keys" ? await createKeys(storage, random, made) : made.map(toPayer);
  return { storage, store, ledger, payers };
}

const { storage, store, ledger, payers } = await open();
const requests = new Requests(ledger, payers, counts);
await requests.touchAll();

/** Whether the books add up, and if not what is wrong. */
async function prove() {
  const proof = await reconcile(storage);
  const findings = proof.findings.map(({ $typeName: _, ...finding }) => finding);
  return { ok: findings.length === 0, findings };
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
