import type { Worker } from "node:worker_threads";
import type { Clock } from "../../../../lib/time/clock.ts";
import { unavailable } from "../../ledger/unavailable.ts";
import type { StoreAnswer, StoreCall } from "./worker.ts";

/** The pause before the thread is started again. Each further one is twice as long, up to the last, until it answers. */
const firstPauseMs = 100;
const lastPauseMs = 10_000;

/** A thread that answers nothing for so long, though it has something to do, is ended. */
const silenceMs = 30_000;
/** Counted second by second, so that a process that was suspended does not take its own sleep for the thread's. */
const tickMs = 1000;

/** The clock and the callbacks that the owner gives the thread. */
export interface ThreadLife {
  readonly clock: Pick<Clock, "after">;
  /** The thread ended, which it never should; it is started again after so many milliseconds. */
  ended(error: Error, restartMs: number): void;
}

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Calls the thread that writes the ledger, and starts it again when it ends, whatever ended it; one that lives and answers
 * nothing is ended. Calls that it had not answered fail with LEDGER_UNAVAILABLE, and nobody knows what became of them:
 * SQLite rolls back what was not committed. Until it runs again every call fails at once, and it runs again only once
 * the one before is over, so that two never write.
 */
export class LedgerThread {
  readonly #make: () => Worker;
  readonly #life: ThreadLife;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #calls = 0;
  /** Ends since the last answer. */
  #ends = 0;
  #lastError: Error | undefined;
  #closing = false;
  #stopWaiting = () => {};
  /** Ends the wait for the next answer. Undefined: none is due. */
  #stopWatching: (() => void) | undefined;
  /** Why the last thread was given up. Undefined: it was not. */
  #silent: Error | undefined;

  constructor(make: () => Worker, life: ThreadLife) {
    this.#make = make;
    this.#life = life;
    this.#start();
  }

  /** Has the thread do something. Throws LEDGER_UNAVAILABLE when it ends before it has answered. */
  call(method: StoreCall["method"], parameters: readonly unknown[]): Promise<never> {
    const worker = this.#worker;
    if (worker === undefined) {
      return Promise.reject(ended(this.#lastError));
    }
    const id = ++this.#calls;
    worker.ref(); // an answer that is awaited keeps the process alive
    return new Promise((resolve, reject) => {
      worker.postMessage({ id, method, parameters } satisfies StoreCall);
      this.#pending.set(id, { resolve, reject });
      this.#watch(worker);
    });
  }

  /** It does one call after the other, so that the time to answer counts from its last answer on. */
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

  /** Lets go all who wait. What holds the thread up may be the disk, so that its end may take any time. */
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
      reject(ended(error));
    }
  }

  /** Lets the thread finish and ends it. What it cannot finish the next process takes over. */
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
      failed(error); // an answer is lost, and nobody knows whose
      void worker.terminate();
    });
    worker.on("message", (answer: StoreAnswer) => this.#answered(worker, answer));
    // Only now is its connection closed, and what it had not committed rolled back.
    worker.on("exit", (code) => this.#ended(cause ?? this.#silent ?? new Error(`the thread ended with code ${code}`)));
  }

  #answered(worker: Worker, answer: StoreAnswer): void {
    if (this.#worker !== worker) {
      return; // it had been given up
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

function ended(cause: Error | undefined) {
  return unavailable("The ledger cannot be reached at the moment.", cause);
}
