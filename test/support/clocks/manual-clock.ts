import type { Clock } from "../../../lib/time/clock.ts";
import { pause } from "../pause.ts";
import { TimerHeap } from "./timer-heap.ts";

/** A clock that stands still until a test turns it. Its wall clock can be turned apart from its monotonic one. */
export class ManualClock implements Clock {
  readonly #timers = new TimerHeap();
  readonly #paced: boolean;
  #wall: number;
  #monotonic = 0;

  /** Paced: leaves databases in other threads and processes the real time that they need. */
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

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Turns the wall clock forward or back without any time passing, as an administrator or NTP would. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** Lets time pass; timers that fall due are called in their order. */
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

  /** Lets time pass second by second, so that work in the background keeps up on a real database. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.advanceAsync(Math.min(left, 1000));
      await pause(10, "the database works meanwhile");
    }
  }

  /** Lets time pass until a promise is settled: at most ten seconds. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const finished = () => {
      done = true;
    };
    promise.then(finished, finished);
    for (let turn = 0; turn < 10_000; turn++) {
      await promisesRun();
      if (done) {
        return promise;
      }
      if (this.#paced) {
        await pause(turn < 1000 ? 1 : 2, "the database works meanwhile"); // a busy disk gets more real time
      }
      await this.advanceAsync(1);
    }
    throw new Error("the promise was not settled within ten seconds of the manual clock");
  }

  #moveTo(instant: number): void {
    const passed = Math.max(0, instant - this.#monotonic);
    this.#monotonic += passed;
    this.#wall += passed;
  }
}

/** Lets promises that are ready run, those of a local database included. */
async function promisesRun(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
