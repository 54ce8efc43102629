/**
 * The load generator, in a process of its own: as many clients as asked for, each sending its next request when the
 * answer to its last one is complete. The parent sends it jobs; it answers each with a measurement.
 */
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { machineUsage, usage } from "../measure/cpu.ts";
import { listenAndReport } from "../measure/processes.ts";
import { type Percentiles, percentiles } from "../report/statistics.ts";
import { Connection, type ResponseListener } from "./connection.ts";
import { encodeRequest, type HttpRequest } from "./encode-request.ts";
import { WordCounter } from "./marker.ts";

/** One load on one system. */
export interface Job extends HttpRequest {
  /** The clients take them in turn. */
  readonly ports: readonly number[];
  /** What a complete answer holds, and how many times. */
  readonly word: string;
  readonly expected: number;
  readonly concurrency: number;
  /** Milliseconds of load before and while it is measured. */
  readonly warmUp: number;
  readonly duration: number;
  /** The processes that serve, whose CPU time is read at both ends of the measurement. */
  readonly processes: readonly number[];
}

/** What was seen between the two ends of the measurement. Times in milliseconds, CPU time in microseconds. */
export interface Measurement {
  readonly duration: number;
  readonly requests: number;
  readonly words: number;
  readonly cpu: number;
  /** The part of the machine's CPU that processes outside of the benchmark took, 0 to 1. */
  readonly disturbance: number;
  /** The part of the machine's CPU that nobody used, 0 to 1. */
  readonly idle: number;
  /** Resident bytes at the end. */
  readonly resident: number;
  /** From sending a request to the first word of its answer, and to its end. */
  readonly firstWord: Percentiles;
  readonly whole: Percentiles;
  /** What went wrong at any time, at most ten of them; a load with errors proves nothing. */
  readonly errors: readonly string[];
}

/** What all clients of a load write down. */
class Tally {
  measuring = false;
  stopped = false;
  requests = 0;
  words = 0;
  readonly firstWord: number[] = [];
  readonly whole: number[] = [];
  readonly errors: string[] = [];

  error(reason: string): void {
    if (this.errors.length < 10) {
      this.errors.push(reason);
    }
  }
}

/** One client: a connection and the request that is under way on it. */
class Client implements ResponseListener {
  /** Resolves when it has ended its last request after the tally was stopped. */
  readonly done: Promise<void>;
  readonly #job: Job;
  readonly #port: number;
  readonly #request: Buffer;
  readonly #tally: Tally;
  readonly #counter: WordCounter;
  #resolve = () => {};
  #connection: Connection | undefined;
  #started = 0;
  #words = 0;
  /** The beginning of the body, to show when the answer is wrong. */
  #sample = "";

  constructor(job: Job, port: number, request: Buffer, tally: Tally) {
    this.#job = job;
    this.#port = port;
    this.#request = request;
    this.#tally = tally;
    this.#counter = new WordCounter(job.word);
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  next(): void {
    this.#connection ??= new Connection(this.#job.host, this.#port, this);
    this.#counter.reset();
    this.#words = 0;
    this.#sample = "";
    this.#started = performance.now();
    this.#connection.send(this.#request);
  }

  body(piece: Buffer): void {
    const words = this.#counter.count(piece);
    if (this.#words === 0) {
      if (words > 0 && this.#tally.measuring) {
        this.#tally.firstWord.push(performance.now() - this.#started);
      } else if (this.#sample.length < 500) {
        this.#sample += piece.toString("latin1", 0, 500);
      }
    }
    this.#words += words;
    if (this.#tally.measuring) {
      this.#tally.words += words;
    }
  }

  end(status: number): void {
    const { measuring, whole } = this.#tally;
    if (status !== 200 || this.#words !== this.#job.expected) {
      this.#tally.error(
        `status ${status}, ${this.#words} of ${this.#job.expected} × "${this.#job.word}": ${this.#sample}`,
      );
    } else if (measuring) {
      this.#tally.requests++;
      whole.push(performance.now() - this.#started);
    }
    if (this.#tally.stopped) {
      this.#connection?.close();
      this.#resolve();
    } else {
      this.next();
    }
  }

  failed(reason: string): void {
    this.#tally.error(reason);
    this.#connection = undefined;
    // Not at once: a system that refuses connections would keep the load generator spinning.
    if (this.#tally.stopped) {
      this.#resolve();
    } else {
      setTimeout(() => this.next(), 100);
    }
  }
}

async function measure(job: Job): Promise<Measurement> {
  const tally = new Tally();
  const requests = job.ports.map((port) => ({ port, bytes: encodeRequest(job, port) }));
  const clients = Array.from({ length: job.concurrency }, (_, at) => {
    const { port, bytes } = requests[at % requests.length] as (typeof requests)[number];
    return new Client(job, port, bytes, tally);
  });
  // Started one after the other, so that requests do not come and go in one volley, and then left to settle.
  const arrivals = job.warmUp * 0.8;
  for (const [at, client] of clients.entries()) {
    setTimeout(() => client.next(), (at / job.concurrency) * arrivals);
  }
  await sleep(job.warmUp);
  tally.measuring = true;
  const start = look(job);
  await sleep(job.duration);
  const end = look(job);
  tally.measuring = false;
  tally.stopped = true;
  await Promise.all(clients.map((client) => client.done));
  const capacity = (end.at - start.at) * 1000 * availableParallelism();
  return {
    duration: end.at - start.at,
    requests: tally.requests,
    words: tally.words,
    cpu: end.system.cpu - start.system.cpu,
    disturbance: (end.others - start.others) / capacity,
    idle: Math.max(0, 1 - (end.machine - start.machine) / capacity),
    resident: end.system.resident,
    firstWord: percentiles(tally.firstWord),
    whole: percentiles(tally.whole),
    errors: tally.errors,
  };
}

/** Where the clocks stand: the wall's in milliseconds, and CPU time of the system, of all, and of all but the benchmark. */
function look({ processes }: Job) {
  const machine = machineUsage();
  return { at: performance.now(), system: usage(processes), machine, others: machine - usage([process.ppid]).cpu };
}

if (process.send) {
  process.on("message", async (job: Job) => process.send?.(await measure(job)));
  listenAndReport(createServer());
}
