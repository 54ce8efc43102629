import type { Clock } from "#lib/time/clock.ts";
import { pause } from "../pause.ts";
import { TimerHeap } from "./timer-heap.ts";

/** Milliseconds for which time stands still for running work that does not end: a statement whose server is silent. */
const longestWorkMs = 5000;
/** The real milliseconds that such work gets once simulated time is used up: a statement fails after ten seconds. */
const lastWorkMs = 10_000;
/** Milliseconds that pass one by one in `until`. Work that takes longer waits for a timer. */
const slowMs = 200;
/** The steps in which the rest of the ten seconds passes when the clock knows the running work. */
const fastStepMs = 5;
const mostWaitMs = 10_000;
/** Real milliseconds for a second of `pass`; the second value where the clock knows the running work. */
const [secondMs, attendedSecondMs] = [10, 3];

/**
 * A clock that stands still until a test moves it. Its wall clock can be moved independently of its monotonic clock.
 */
export class ManualClock implements Clock {
  readonly #timers = new TimerHeap();
  readonly #paced: boolean;
  readonly #attended: (() => number)[] = [];
  /** Pieces of work that have run for so long that nothing waits for them. */
  #hanging = 0;
  #wall: number;
  #monotonic = 0;

  /** `paced`: gives databases in other threads and processes the real time that they need. */
  constructor(wall = Date.parse("2026-01-31T12:00:00Z"), paced = true) {
    this.#wall = wall;
    this.#paced = paced;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#timers.add(this.#monotonic + ms, callback);
  }

  /** The number of timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Makes time stand still in `pass` and `until` while real work runs, such as statements of a database: it takes real
   * time, and on a busy machine much of it. `underway` counts the running pieces.
   */
  attend(underway: () => number): void {
    this.#attended.push(underway);
  }

  /** Moves the wall clock without any time passing, like an administrator or NTP. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** Lets time pass. Due timers are called in order. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let timer = this.#timers.take(end); timer !== undefined; timer = this.#timers.take(end)) {
      this.#moveTo(timer.at);
      timer.callback();
    }
    this.#moveTo(end);
  }

  /** Lets time pass, and after each timer the promises that follow from it. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await promisesRun();
    for (let timer = this.#timers.take(end); timer !== undefined; timer = this.#timers.take(end)) {
      this.#moveTo(timer.at);
      timer.callback();
      await promisesRun();
    }
    this.#moveTo(end);
    await promisesRun();
  }

  /** Lets time pass second by second, so that background work keeps up on a real database. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.advanceAsync(Math.min(left, 1000));
      await pause(this.#attended.length > 0 ? attendedSecondMs : secondMs, "the database works meanwhile");
      await this.#workEnds();
    }
  }

  /** Lets time pass until a promise settles: at most ten seconds, and again as many after work still running then. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const finished = () => {
      done = true;
    };
    promise.then(finished, finished);
    const isDone = () => done;
    if ((await this.#passUntil(isDone)) || ((await this.#lastWorkEnds()) && (await this.#passUntil(isDone)))) {
      return promise;
    }
    throw new Error("the promise was not settled within ten seconds of the manual clock");
  }

  /** Lets at most ten seconds pass. Returns whether it is done. */
  async #passUntil(isDone: () => boolean): Promise<boolean> {
    for (let passed = 0, step = 1; passed < mostWaitMs; passed += step) {
      await promisesRun();
      if (isDone()) {
        return true;
      }
      if (this.#paced) {
        await pause(1, "the database works meanwhile");
        await this.#workEnds();
      }
      step = this.#attended.length > 0 && passed >= slowMs ? fastStepMs : 1;
      await this.advanceAsync(step);
    }
    return false;
  }

  /** Waits for work that simulated time has overtaken. Returns whether there was any, and it has ended. */
  async #lastWorkEnds(): Promise<boolean> {
    if (this.#count() === 0) {
      return false;
    }
    for (const giveUpAt = performance.now() + lastWorkMs; this.#count() > 0; ) {
      if (performance.now() > giveUpAt) {
        return false;
      }
      await pause(1, "the database works meanwhile");
    }
    return true;
  }

  /** Waits in real time for running work, and for what follows from it. */
  async #workEnds(): Promise<void> {
    const giveUpAt = performance.now() + longestWorkMs;
    for (let underway = this.#count(); underway > this.#hanging; underway = this.#count()) {
      if (performance.now() > giveUpAt) {
        this.#hanging = underway;
        return;
      }
      await pause(1, "the database works meanwhile");
      await promisesRun();
    }
  }

  #count(): number {
    const underway = this.#attended.reduce((sum, count) => sum + count(), 0);
    this.#hanging = Math.min(this.#hanging, underway);
    return underway;
  }

  #moveTo(instant: number): void {
    const passed = Math.max(0, instant - this.#monotonic);
    this.#monotonic += passed;
    this.#wall += passed;
  }
}

/** Runs promises that are ready, including those of a local database. */
async function promisesRun(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
