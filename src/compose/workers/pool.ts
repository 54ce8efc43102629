import cluster, { type Worker } from "node:cluster";
import type { Logger } from "../../../lib/logger.ts";
import { settleMs } from "../process/lifecycle.ts";
import { Backoff } from "./backoff.ts";
import type { Drain, FromWorker, ToWorker } from "./messages.ts";
import { Handoffs } from "./workarounds/lost-handoffs.ts";

/** How long a worker may take to return its metrics, in milliseconds. One that is too busy is left out. */
const metricsMs = 2000;

/** How long a worker may take to end after its grace, in milliseconds: it gives up by itself before, and says why. */
const endMs = settleMs + 1000;

/** A place that is always filled: when its worker dies, another takes it. */
interface Place {
  readonly number: string;
  readonly backoff: Backoff;
  worker: Worker;
  startedAt: number;
  ready: boolean;
}

/** The serving processes. They share their listeners: this process hands each the connections in turn. */
export class WorkerPool {
  readonly #places: Place[];
  readonly #logger: Logger;
  readonly #started = Promise.withResolvers<Readonly<Record<string, string>>>();
  readonly #answers = new Map<number, (text: string) => void>();
  #questions = 0;
  readonly #handoffs = new Handoffs();
  /** Servers that the operator has drained. */
  readonly #drained = new Set<string>();
  /** Until all have started once, an ended worker means that none can start. */
  #phase: "starting" | "running" | "stopping" = "starting";

  /** Starts `count` workers. `program`: the arguments of the executable, first the file that it runs. */
  constructor(
    count: number,
    { program: [exec = "", ...args], logger }: { program: readonly string[]; logger: Logger },
  ) {
    this.#logger = logger;
    this.#started.promise.catch(() => {}); // it may reject early, before anybody waits
    cluster.setupPrimary({ exec, args });
    this.#places = Array.from({ length: count }, (_, at) => {
      const number = String(at + 1);
      const place = {
        number,
        backoff: new Backoff(),
        worker: fork(number),
        startedAt: performance.now(),
        ready: false,
      };
      this.#watch(place);
      return place;
    });
  }

  /** Resolves with the addresses when all are ready. Rejects when one ends before that. */
  get started(): Promise<Readonly<Record<string, string>>> {
    return this.#started.promise;
  }

  /** The number of workers that take requests. */
  get ready(): number {
    return this.#places.filter(({ ready }) => ready).length;
  }

  /** The metrics of the workers that answer. */
  async metrics(): Promise<string[]> {
    const texts = await Promise.all(this.#places.map(({ worker }) => this.#ask(worker)));
    return texts.filter((text) => text !== undefined);
  }

  /** Has every worker read the configuration again. A worker that is just starting reads it anyway. */
  reload(): void {
    for (const { ready, worker } of this.#places) {
      if (ready) {
        worker.process.kill("SIGHUP");
      }
    }
  }

  /** Lets every worker drain and end, each within its own grace. A worker that does not end is killed. */
  async stop(graceMs: number, settle = endMs): Promise<void> {
    this.#phase = "stopping";
    const alive = this.#places.filter(({ worker }) => !worker.isDead());
    const ended = alive.map(({ worker }) => new Promise((resolve) => worker.once("exit", resolve)));
    for (const { worker } of alive) {
      worker.process.kill("SIGTERM");
    }
    const late = setTimeout(() => {
      for (const { worker, number } of this.#places.filter((place) => !place.worker.isDead())) {
        this.#logger.error({ worker: number }, "worker did not end: it is killed");
        worker.process.kill("SIGKILL");
      }
    }, graceMs + settle);
    await Promise.all(ended);
    clearTimeout(late);
  }

  #ask(worker: Worker): Promise<string | undefined> {
    if (!worker.isConnected()) {
      return Promise.resolve(undefined);
    }
    const question = ++this.#questions;
    return new Promise((resolve) => {
      const answer = (text: string | undefined) => {
        clearTimeout(late);
        this.#answers.delete(question);
        resolve(text);
      };
      const late = setTimeout(answer, metricsMs, undefined);
      this.#answers.set(question, answer);
      send(worker, { type: "metrics", question });
    });
  }

  #watch(place: Place): void {
    this.#handoffs.watch(place.worker);
    place.worker.on("message", (message: FromWorker) => this.#hear(place, message));
    place.worker.once("exit", (code, signal) => this.#replace(place, signal ?? code));
  }

  #hear(place: Place, message: FromWorker): void {
    switch (message.type) {
      case "ready":
        place.ready = true;
        for (const server of this.#drained) {
          send(place.worker, { type: "drain", server, draining: true });
        }
        this.#logger.info({ worker: place.number, pid: place.worker.process.pid }, "worker ready");
        if (this.#phase === "starting" && this.ready === this.#places.length) {
          this.#phase = "running";
          this.#started.resolve(message.addresses);
        }
        return;
      case "draining":
        place.ready = false;
        return;
      case "drain":
        this.#drain(place, message);
        return;
      case "metrics":
        this.#answers.get(message.question)?.(message.text);
    }
  }

  /** Passes a command to one worker on to the others, and to those that start later. */
  #drain(told: Place, drain: Drain): void {
    if (drain.draining) {
      this.#drained.add(drain.server);
    } else {
      this.#drained.delete(drain.server);
    }
    for (const place of this.#places) {
      if (place !== told && place.ready) {
        send(place.worker, drain);
      }
    }
  }

  #replace(place: Place, ended: number | string): void {
    place.ready = false;
    if (this.#phase === "stopping") {
      return;
    }
    if (this.#phase === "starting") {
      this.#started.reject(new Error(`worker ${place.number} ended with ${ended} before all were ready`));
      return;
    }
    const waitMs = place.backoff.after(performance.now() - place.startedAt);
    const level = ended === 0 ? "info" : "error"; // an operator may end a worker in order, to have it replaced
    this.#logger[level]({ worker: place.number, ended, restart_in_ms: waitMs }, "worker ended");
    setTimeout(() => {
      if (this.#phase === "stopping") {
        return;
      }
      place.worker = fork(place.number);
      place.startedAt = performance.now();
      this.#watch(place);
    }, waitMs);
  }
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) {
    worker.send(message);
  }
}

function fork(number: string): Worker {
  return cluster.fork({ TOLLGATE_WORKER: number });
}
