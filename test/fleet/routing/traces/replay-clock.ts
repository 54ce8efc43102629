import type { Clock } from "#lib/time/clock.ts";
import { TimerHeap } from "../../../support/clocks/timer-heap.ts";

/** A clock that jumps from one timer to the next, and lets promises run between them. */
export class ReplayClock implements Clock {
  readonly #timers = new TimerHeap();
  #time = 0;

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#timers.add(this.#time + Math.max(0, ms), callback);
  }

  /** Runs up to a time. */
  async run(until: number): Promise<void> {
    for (let timer = this.#timers.take(until); timer !== undefined; timer = this.#timers.take(until)) {
      this.#time = Math.max(this.#time, timer.at);
      timer.callback();
      await undefined;
      await undefined;
    }
    this.#time = until;
  }
}
