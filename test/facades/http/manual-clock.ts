import type { Clock } from "../../../lib/time/clock.ts";

/** A clock that a test turns. */
export class ManualClock implements Clock {
  #now = Date.parse("2026-01-31T12:00:00Z");
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Lets time pass; timers fire in their order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) {
        break;
      }
      this.#timers.delete(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = end;
  }
}
