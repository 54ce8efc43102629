import { TimerHeap } from "../../support/clocks/timer-heap.ts";

/** The wall clock of a world at its beginning. */
const beginning = Date.parse("2026-03-30T21:50:00Z");

/** Events in each turn of the event loop, in which Node.js looks for unhandled rejections. */
const turnEvents = 256;

/**
 * Simulated time. Events happen one after the other, and all promises that follow from an event run before the next
 * one. So what happens depends on the seed only. The clock moves only from event to event.
 */
export class Timeline {
  readonly #events = new TimerHeap();
  readonly #work: Promise<unknown>[] = [];
  #now = 0;
  #count = 0;
  /** The wall clock's time at the beginning, in milliseconds since the epoch. */
  readonly beginning: number;
  /** Called after each event, once everything that follows from it has run. */
  afterEach: () => void = () => {};

  constructor(began = beginning) {
    this.beginning = began;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** The number of events so far. */
  get count(): number {
    return this.#count;
  }

  /** Schedules an event after a span. Returns the function that cancels it. */
  after(ms: number, happen: () => void): () => void {
    return this.#events.add(this.#now + Math.max(0, ms), happen);
  }

  /** Schedules an event at a time. */
  at(time: number, happen: () => void): void {
    this.#events.add(Math.max(this.#now, time), happen);
  }

  /** Makes the next event wait for work that an event has begun and that takes no simulated time. */
  finish(work: Promise<unknown>): void {
    this.#work.push(work);
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#promisesRun(); // promises that were started outside of events
    await this.#run(end, () => false);
    this.#now = end;
  }

  /** Lets time pass until a promise settles, at most `mostMs`. Returns whether it settled. */
  async until(promise: Promise<unknown>, mostMs: number): Promise<boolean> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    promise.then(note, note);
    await this.#promisesRun();
    await this.#run(this.#now + mostMs, () => settled);
    return settled;
  }

  async #run(end: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const event = this.#events.take(end);
      if (event === undefined) {
        return;
      }
      this.#now = Math.max(this.#now, event.at);
      this.#count++;
      event.callback();
      await this.#promisesRun();
      this.afterEach();
    }
  }

  /**
   * A tick comes when no promise is left that could continue. An occasional event-loop turn lets Node.js do the rest.
   */
  async #promisesRun(): Promise<void> {
    do {
      for (let work = this.#work.shift(); work !== undefined; work = this.#work.shift()) {
        await work;
      }
      await new Promise<void>(this.#count % turnEvents === 0 ? setImmediate : process.nextTick);
    } while (this.#work.length > 0);
  }
}
