import type { Clock } from "../../../../lib/time/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock for many timers: they wait in a binary heap. What is cancelled is called in vain. */
export class VirtualClock implements Clock {
  readonly #heap: Timer[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    let cancelled = false;
    this.#push({ at: this.#now + ms, callback: () => cancelled || callback() });
    return () => {
      cancelled = true;
    };
  }

  /** Lets time pass until an instant, calling back what falls due, in order. */
  advanceTo(until: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#pop();
      this.#now = next.at;
      next.callback();
    }
    this.#now = until;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    for (let above = (at - 1) >> 1; at > 0 && timer.at < (heap[above]?.at ?? 0); above = (at - 1) >> 1) {
      heap[at] = heap[above] as Timer;
      at = above;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) {
      return;
    }
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if ((heap[below + 1]?.at ?? Number.POSITIVE_INFINITY) < (heap[below]?.at ?? Number.POSITIVE_INFINITY)) {
        below++;
      }
      const child = heap[below];
      if (child === undefined || child.at >= last.at) {
        break;
      }
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}
