import type { Clock } from "../lib/time/clock.ts";

/** A clock that only a test turns. Its wall clock and its span clock can be turned apart. */
export class FakeClock implements Clock {
  #wall = Date.parse("2026-01-01T00:00:00Z");
  #monotonic = 1000;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#monotonic + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  /** Lets time pass, calling back what falls due, in order. */
  advance(ms: number): void {
    const until = this.#monotonic + ms;
    for (;;) {
      const next = this.#timers.filter((one) => one.at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) {
        break;
      }
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#pass(Math.max(0, next.at - this.#monotonic));
      next.callback();
    }
    this.#pass(until - this.#monotonic);
  }

  /** Sets the wall clock forward or back, as an administrator or NTP would. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  #pass(ms: number): void {
    this.#monotonic += ms;
    this.#wall += ms;
  }
}
