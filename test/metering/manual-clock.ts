import type { Clock } from "../../lib/time/clock.ts";

/** A clock that stands still until it is advanced. */
export class ManualClock implements Clock {
  #now: number;
  readonly #paced: boolean;
  #monotonic = 0;
  #timers: { at: number; callback: () => void }[] = [];

  /** Paced: leaves databases in other threads and processes the time that they need. */
  constructor(now = Date.now(), paced = true) {
    this.#now = now;
    this.#paced = paced;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#monotonic + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets time pass, with everything that is due and what follows from it. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await settled();
    for (;;) {
      const [next] = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) {
        break;
      }
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#move(next.at);
      next.callback();
      await settled();
    }
    this.#move(end);
    await settled();
  }

  /** Lets time pass second by second, so that work in the background keeps up on a real database. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.advance(Math.min(left, 1000));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Lets time pass until a promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const finished = () => {
      done = true;
    };
    promise.then(finished, finished);
    for (let turn = 0; turn < 10_000; turn++) {
      await settled();
      if (done) {
        return promise;
      }
      if (this.#paced) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await this.advance(1);
    }
    throw new Error("the promise was not settled within ten seconds of the manual clock");
  }

  /** Turns the wall clock without any time passing. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #move(to: number): void {
    const passed = Math.max(0, to - this.#monotonic);
    this.#monotonic += passed;
    this.#now += passed;
  }
}

/** Lets promises that are ready run, those of a local database included. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
