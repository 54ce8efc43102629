/**
 * The open load generator, in a process of its own: requests come by a Poisson process whether or not earlier ones are
 * answered, as users' requests do. Each has a connection of its own while it runs: an idle one, or a new one where there is
 * none or where every client is new. The parent sends it jobs; it answers each with a measurement.
 */
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, type ResponseListener } from "../load/connection.ts";
import { encodeRequest, type HttpRequest } from "../load/encode-request.ts";
import { WordCounter } from "../load/marker.ts";
import { machineUsage, usage } from "../measure/cpu.ts";
import { listenAndReport } from "../measure/processes.ts";
import { type Answered, recoveryOf } from "./recovery.ts";
import { type Tail, toTail } from "./tail.ts";

/** An open load on one system. */
export interface OpenJob extends HttpRequest {
  readonly port: number;
  /** Headers of the clients whose requests take turns. Absent: all are alike. */
  readonly clients?: readonly HttpRequest["headers"][];
  /** What a complete answer holds, and how many times. */
  readonly word: string;
  readonly expected: number;
  /** Requests a second. */
  readonly rate: number;
  /** Whether each request has a client of its own, which closes its connection when it is answered. */
  readonly newClients: boolean;
  /** Where kept connections come from. Absent: the machine chooses. */
  readonly address?: string;
  /** Milliseconds of load before and while it is measured. */
  readonly warmUp: number;
  readonly duration: number;
  /** Suspends the first process for 100 ms in the middle of the measurement. */
  readonly stall: boolean;
  /** The processes that serve. */
  readonly processes: readonly number[];
}

/** What was seen of the requests that came while it was measured. */
export interface OpenMeasurement {
  /** Milliseconds. */
  readonly duration: number;
  /** From sending a request to the first word of its answer, and to its end. */
  readonly firstWord: Tail;
  readonly whole: Tail;
  /** From sending a request to its refusal with 429, 503 or 529. */
  readonly refused: Tail;
  readonly mostInFlight: number;
  /** Requests that came while too many were in flight to send them. */
  readonly unsent: number;
  /** Requests without an answer 15 s after the last one was sent. */
  readonly unanswered: number;
  /** Bytes. */
  readonly resident: number;
  /** CPU time of the system for each request that came, in microseconds. */
  readonly cpu: number;
  /** The parts of the machine's CPU that nobody used and that others took, 0 to 1. */
  readonly idle: number;
  readonly disturbance: number;
  /** Milliseconds from the end of the stall, as `recoveryOf` has them. NaN: there was no stall. */
  readonly recovery: number;
  readonly errors: readonly string[];
}

const stallMs = 100;
/**
 * Beyond so many requests in flight none is sent. A system that refuses none would otherwise run out of descriptors, of
 * which it needs two for each, and what failed would be the measurement. It is most of a second of any system's work.
 */
const mostInFlight = 4000;
/**
 * New clients come from so many addresses: each has some 28,000 ports, and a port that was closed is free again only
 * after a minute. Each is of a network of its own, because a network's new connections have a rate.
 */
const newClientAddresses = 128;
/** How long the last answers are waited for. */
const patienceMs = 15_000;

class Tally {
  inFlight = 0;
  mostInFlight = 0;
  unsent = 0;
  readonly firstWord: number[] = [];
  readonly whole: Answered[] = [];
  readonly refused: number[] = [];
  readonly errors: string[] = [];

  error(reason: string): void {
    if (this.errors.length < 10) {
      this.errors.push(reason);
    }
  }
}

/** One connection and the request that is under way on it. */
class Client implements ResponseListener {
  readonly #job: OpenJob;
  readonly #tally: Tally;
  readonly #idle: Client[];
  readonly #open: Set<Client>;
  readonly #counter: WordCounter;
  #connection: Connection | undefined;
  /** When the request was sent, by the clock, and since the measurement began. Undefined: it is not measured. */
  #sent = 0;
  #sentAt: number | undefined;
  #words = 0;

  constructor(job: OpenJob, tally: Tally, { idle, open }: Clients) {
    this.#job = job;
    this.#tally = tally;
    this.#idle = idle;
    this.#open = open;
    this.#counter = new WordCounter(job.word);
  }

  send(request: Buffer, sentAt: number | undefined): void {
    this.#connection ??= this.#connect();
    this.#counter.reset();
    this.#words = 0;
    this.#sent = performance.now();
    this.#sentAt = sentAt;
    this.#tally.inFlight++;
    this.#tally.mostInFlight = Math.max(this.#tally.mostInFlight, this.#tally.inFlight);
    this.#connection.send(request);
  }

  #connect(): Connection {
    const { host, port, newClients, address } = this.#job;
    this.#open.add(this);
    return new Connection(host, port, this, newClients ? nextAddress() : address);
  }

  body(piece: Buffer): void {
    const words = this.#counter.count(piece);
    if (this.#words === 0 && words > 0 && this.#sentAt !== undefined) {
      this.#tally.firstWord.push(performance.now() - this.#sent);
    }
    this.#words += words;
  }

  end(status: number): void {
    this.#tally.inFlight--;
    const ms = performance.now() - this.#sent;
    if (status === 429 || status === 503 || status === 529) {
      if (this.#sentAt !== undefined) {
        this.#tally.refused.push(ms);
      }
    } else if (status !== 200 || this.#words !== this.#job.expected) {
      this.#tally.error(`status ${status}, ${this.#words} of ${this.#job.expected} words`);
    } else if (this.#sentAt !== undefined) {
      this.#tally.whole.push({ sentAt: this.#sentAt, ms });
    }
    if (this.#job.newClients) {
      this.close();
    } else {
      this.#idle.push(this);
    }
  }

  failed(reason: string): void {
    this.#connection = undefined;
    this.#open.delete(this);
    const at = this.#idle.indexOf(this);
    if (at === -1) {
      this.#tally.inFlight--;
      this.#tally.error(reason);
    } else {
      this.#idle.splice(at, 1);
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#open.delete(this);
  }
}

/** The clients that have a connection, and those of them that wait for a request. */
interface Clients {
  readonly open: Set<Client>;
  readonly idle: Client[];
}

let addresses = 0;

function nextAddress(): string {
  addresses = (addresses + 1) % newClientAddresses;
  return `127.1.${addresses + 1}.1`;
}

async function measure(job: OpenJob): Promise<OpenMeasurement> {
  const tally = new Tally();
  const clients: Clients = { open: new Set(), idle: [] };
  const { from, to, sent, stalled } = await sendAll(job, tally, clients);
  for (const late = performance.now() + patienceMs; tally.inFlight > 0 && performance.now() < late; ) {
    await sleep(10);
  }
  const unanswered = tally.inFlight;
  for (const client of clients.open) {
    client.close();
  }
  const capacity = (to.at - from.at) * 1000 * availableParallelism();
  return {
    duration: to.at - from.at,
    firstWord: toTail(tally.firstWord),
    whole: toTail(tally.whole.map(({ ms }) => ms)),
    refused: toTail(tally.refused),
    mostInFlight: tally.mostInFlight,
    unsent: tally.unsent,
    unanswered,
    resident: to.system.resident,
    cpu: (to.system.cpu - from.system.cpu) / sent,
    idle: Math.max(0, 1 - (to.machine - from.machine) / capacity),
    disturbance: (to.others - from.others) / capacity,
    recovery: job.stall ? recoveryOf(tally.whole, { from: stalled - stallMs, to: stalled }, job.duration) : Number.NaN,
    errors: tally.errors,
  };
}

/** What a load began and ended with. */
interface Sent {
  readonly from: Look;
  readonly to: Look;
  /** Requests that came between both. */
  readonly sent: number;
  /** When the stall ended, in milliseconds since the measurement began. NaN: there was none. */
  readonly stalled: number;
}

async function sendAll(job: OpenJob, tally: Tally, clients: Clients): Promise<Sent> {
  const own = job.clients ?? [{}];
  const requests = own.map((of) =>
    encodeRequest({ ...job, headers: { ...job.headers, ...of, ...(job.newClients && closing) } }, job.port),
  );
  let turn = 0;
  const send = (sentAt: number | undefined) => {
    const request = requests[turn++ % requests.length] as Buffer;
    (clients.idle.pop() ?? new Client(job, tally, clients)).send(request, sentAt);
  };
  const arrivals = new Arrivals(job.rate, performance.now());
  const begin = performance.now() + job.warmUp;
  await sendUntil(begin, arrivals, () => send(undefined), tally);
  const from = look(job);
  tally.mostInFlight = tally.inFlight;
  tally.unsent = 0;
  let sent = 0;
  const sendMeasured = () => {
    sent += 1;
    send(performance.now() - begin);
  };
  const end = begin + job.duration;
  let stalled = Number.NaN;
  if (job.stall) {
    await sendUntil(begin + job.duration / 2, arrivals, sendMeasured, tally);
    stalled = performance.now() - begin + stallMs;
    suspend(job.processes[0]);
  }
  await sendUntil(end, arrivals, sendMeasured, tally);
  return { from, to: look(job), sent, stalled };
}

/** The moments of a Poisson process. */
class Arrivals {
  readonly #rate: number;
  #due: number;

  /** `rate`: so many a second. `from`: on the monotonic clock, in milliseconds. */
  constructor(rate: number, from: number) {
    this.#rate = rate;
    this.#due = from;
  }

  /** How many are due since it was last asked. */
  take(now: number): number {
    let count = 0;
    for (; this.#due <= now; this.#due += (-Math.log(1 - Math.random()) * 1000) / this.#rate) {
      count += 1;
    }
    return count;
  }
}

async function sendUntil(end: number, arrivals: Arrivals, send: () => void, tally: Tally): Promise<void> {
  for (let now = performance.now(); now < end; now = performance.now()) {
    for (let due = arrivals.take(now); due > 0; due--) {
      if (tally.inFlight < mostInFlight) {
        send();
      } else {
        tally.unsent += 1;
      }
    }
    await sleep(1);
  }
}

const closing = { connection: "close" };

function suspend(pid: number | undefined): void {
  if (pid !== undefined) {
    process.kill(pid, "SIGSTOP");
    setTimeout(() => process.kill(pid, "SIGCONT"), stallMs);
  }
}

type Look = ReturnType<typeof look>;

/** Where the clocks stand: the wall's in milliseconds, and CPU time of the system, of all, and of all but the benchmark. */
function look({ processes }: OpenJob) {
  const machine = machineUsage();
  return { at: performance.now(), system: usage(processes), machine, others: machine - usage([process.ppid]).cpu };
}

if (process.send) {
  process.on("message", async (job: OpenJob) => process.send?.(await measure(job)));
  listenAndReport(createServer());
}
