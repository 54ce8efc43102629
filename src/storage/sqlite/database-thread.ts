import type { Worker } from "node:worker_threads";
import type { Clock } from "#lib/time/clock.ts";
import type { ThreadAnswer, ThreadCall } from "./serve-calls.ts";

/**
 * The pause before the thread is started again. Each further pause is twice as long, up to the last, until it answers.
 */
const firstPauseMs = 100;
const lastPauseMs = 10_000;

/** A thread that has work but answers nothing for this long is ended. */
const silenceMs = 30_000;
/**
 * Silence is counted second by second, so that a suspended process does not count its own sleep as the thread's
 * silence.
 */
const tickMs = 1000;

/** The clock and the callbacks that the owner gives the thread. */
export interface ThreadLife {
  readonly clock: Pick<Clock, "after">;
  /** Called when the thread ended, which it never should. It is started again after `restartMs` milliseconds. */
  ended(error: Error, restartMs: number): void;
}

/** The error of calls that a thread's end leaves without an answer. */
export type Refuse = (cause: Error | undefined) => Error;

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Calls a thread that has a connection of its own to a SQLite file, and starts it again whenever it ends. A living
 * thread that answers nothing is ended. Unanswered calls are refused, and their outcome is unknown: SQLite rolls back
 * whatever was not committed. Until the thread runs again every call fails at once. It starts only after the previous
 * one is over, so that two never write.
 */
export class DatabaseThread {
  readonly #make: () => Worker;
  readonly #life: ThreadLife;
  readonly #refuse: Refuse;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #calls = 0;
  /** How often the thread ended since the last answer. */
  #ends = 0;
  #lastError: Error | undefined;
  #closing = false;
  #stopWaiting = () => {};
  /** Ends the wait for the next answer. Undefined: no answer is due. */
  #stopWatching: (() => void) | undefined;
  /** Why the last thread was given up. Undefined: it was not. */
  #silent: Error | undefined;

  constructor(make: () => Worker, life: ThreadLife, refuse: Refuse) {
    this.#make = make;
    this.#life = life;
    this.#refuse = refuse;
    this.#start();
  }

  /** Has the thread call a method. Rejects when the thread ends before it has answered. */
  call(method: string, parameters: readonly unknown[]): Promise<never> {
    const worker = this.#worker;
    if (worker === undefined) {
      return Promise.reject(this.#refuse(this.#lastError));
    }
    const id = ++this.#calls;
    worker.ref(); // an awaited answer keeps the process alive
    return new Promise((resolve, reject) => {
      worker.postMessage({ id, method, parameters } satisfies ThreadCall);
      this.#pending.set(id, { resolve, reject });
      this.#watch(worker);
    });
  }

  /** Calls run one after the other, so the time to answer counts from the last answer. */
  #watch(worker: Worker, silentMs = 0): void {
    this.#stopWatching ??= this.#life.clock.after(tickMs, () => {
      this.#stopWatching = undefined;
      if (silentMs + tickMs >= silenceMs) {
        this.#giveUp(worker);
      } else {
        this.#watch(worker, silentMs + tickMs);
      }
    });
  }

  #stopWatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /** Rejects all waiting calls. The disk may be what blocks the thread, so its end may take any time. */
  #giveUp(worker: Worker): void {
    if (this.#worker !== worker) {
      return;
    }
    const silent = new Error(`the thread answered nothing for ${silenceMs / 1000} seconds`);
    this.#worker = undefined;
    this.#lastError = silent;
    this.#refuseAll(silent);
    this.#silent = silent;
    void worker.terminate();
  }

  #refuseAll(error: Error): void {
    const unanswered = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of unanswered) {
      reject(this.#refuse(error));
    }
  }

  /** Lets the thread finish and ends it. The next process takes over anything unfinished. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#stopWaiting();
    await this.call("end", []).catch(() => {});
    await this.#worker?.terminate();
  }

  #start(): void {
    const worker = this.#make();
    this.#silent = undefined;
    this.#worker = worker;
    worker.unref();
    let cause: Error | undefined;
    const failed = (error: Error) => {
      cause ??= error;
    };
    worker.on("error", failed);
    worker.on("messageerror", (error) => {
      failed(error); // an answer is lost, and nobody knows which
      void worker.terminate();
    });
    worker.on("message", (answer: ThreadAnswer) => this.#answered(worker, answer));
    // Only now is its connection closed, and its uncommitted work rolled back.
    worker.on("exit", (code) => this.#ended(cause ?? this.#silent ?? new Error(`the thread ended with code ${code}`)));
  }

  #answered(worker: Worker, answer: ThreadAnswer): void {
    if (this.#worker !== worker) {
      return; // the thread had been given up
    }
    this.#ends = 0;
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    this.#stopWatch();
    if (this.#pending.size === 0) {
      worker.unref();
    } else {
      this.#watch(worker);
    }
    if ("error" in answer) {
      pending?.reject(Object.assign(new Error(answer.error), { errcode: answer.errcode, code: answer.code }));
    } else {
      pending?.resolve(answer.result as never);
    }
  }

  #ended(error: Error): void {
    this.#worker = undefined;
    this.#lastError = error;
    this.#stopWatch();
    this.#refuseAll(error);
    if (this.#closing) {
      return;
    }
    const pause = Math.min(firstPauseMs * 2 ** Math.min(this.#ends++, 10), lastPauseMs);
    this.#life.ended(error, pause);
    this.#stopWaiting = this.#life.clock.after(pause, () => this.#startAgain());
  }

  #startAgain(): void {
    try {
      this.#start();
    } catch (error) {
      this.#ended(error as Error); // the system has no thread to give
    }
  }
}
