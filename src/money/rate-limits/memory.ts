import type { Clock } from "#lib/time/clock.ts";
import { MemoryQuotas } from "./memory-quotas.ts";
import { type QuotaDemand, windowMs } from "./quota.ts";
import { Round } from "./round.ts";
import type { RateLimitDecision, RunDecision, WindowState, Windows } from "./windows.ts";

const noState = { used: 0, waitMs: 0, resetAfterMs: 0 };

/**
 * Exact windows of one process: the time of every request admitted within the last minute is kept. Memory is bounded by
 * the requests admitted in a minute, eight bytes each, whatever the limits are.
 */
export class MemoryWindows implements Windows {
  /** Only one core counts here. */
  readonly areShared = true;
  readonly #clock: Clock;
  readonly #keys = new Map<string, Times>();
  readonly #round = new Round(this.#keys);
  readonly #quotas: MemoryQuotas;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#quotas = new MemoryQuotas(clock);
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#keys.size;
  }

  admit(key: string, limit: number): RateLimitDecision {
    const now = this.#clock.monotonic();
    this.#round.forget(({ newest }) => newest <= now - windowMs);
    let times = this.#keys.get(key);
    if (times === undefined) {
      times = new Times();
      this.#keys.set(key, times);
    }
    times.dropUntil(now - windowMs);
    if (times.length >= limit) {
      return { admitted: false, ...toState(times, limit, now) };
    }
    times.push(now);
    return { admitted: true, ...toState(times, limit, now) };
  }

  begin(key: string, limit: number, demands: readonly QuotaDemand[]): RunDecision {
    const { states, full } = this.#quotas.take(demands);
    if (full !== undefined) {
      return { window: { admitted: false, ...this.read(key, limit) }, quotas: states, full, end: nothing };
    }
    const window = this.admit(key, limit);
    let isOver = false;
    const end = (counted: readonly number[]) => {
      if (!isOver) {
        isOver = true;
        demands.forEach(({ name, amount }, i) => void this.#quotas.give(name, amount, counted[i] ?? 0));
      }
    };
    if (!window.admitted) {
      end([]);
    }
    return { window, quotas: states, full, end };
  }

  /** Counts tokens of a run that ran elsewhere. */
  count(name: string, amount: number): void {
    this.#quotas.give(name, 0, amount);
  }

  read(key: string, limit: number): WindowState {
    const now = this.#clock.monotonic();
    const times = this.#keys.get(key);
    if (!times) {
      return { ...noState, limit };
    }
    times.dropUntil(now - windowMs);
    return toState(times, limit, now);
  }

  async close(): Promise<void> {
    this.#keys.clear();
  }
}

function nothing(): void {}

function toState(times: Times, limit: number, now: number): WindowState {
  const used = times.length;
  // The limit may have been lowered: then several requests have to lapse before one more fits.
  const waitMs = used < limit ? 0 : times.at(used - limit) + windowMs - now;
  return { used, waitMs, resetAfterMs: used === 0 ? 0 : times.newest + windowMs - now, limit };
}

const leastCapacity = 8;

/** Times in ascending order, in a ring that grows and shrinks with their number. */
class Times {
  #ring = new Float64Array(leastCapacity);
  #head = 0;
  length = 0;
  /** The last time pushed, even after it was dropped. */
  newest = Number.NEGATIVE_INFINITY;

  at(index: number): number {
    return this.#ring[(this.#head + index) % this.#ring.length] ?? Number.NEGATIVE_INFINITY;
  }

  push(time: number): void {
    if (this.length === this.#ring.length) {
      this.#resize(this.length * 2);
    }
    this.#ring[(this.#head + this.length) % this.#ring.length] = time;
    this.length++;
    this.newest = time;
  }

  /** Drops all times up to the given one. */
  dropUntil(time: number): void {
    while (this.length > 0 && this.at(0) <= time) {
      this.#head = (this.#head + 1) % this.#ring.length;
      this.length--;
    }
    if (this.#ring.length > leastCapacity && this.length * 4 <= this.#ring.length) {
      this.#resize(Math.max(leastCapacity, this.#ring.length / 2));
    }
  }

  #resize(capacity: number): void {
    const ring = new Float64Array(capacity);
    for (let i = 0; i < this.length; i++) {
      ring[i] = this.at(i);
    }
    this.#ring = ring;
    this.#head = 0;
  }
}
