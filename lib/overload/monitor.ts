import type { Logger } from "../logger.ts";
import type { Clock } from "../time/clock.ts";

/** The resource that a process is short of. */
export type Shortage = "event_loop" | "memory";

/** Tells whether a process has more work than it can handle. */
export interface Overload {
  /** Why new requests are refused. Undefined: they are taken. */
  readonly shortage: Shortage | undefined;
}

/** The limits beyond which new requests are refused. */
export interface OverloadLimits {
  /** How late the event loop may be, in milliseconds. */
  readonly maxLagMs: number;
  /** The part of its memory that a process may use, from 0 to 1. */
  readonly maxMemory: number;
}

interface Dependencies {
  readonly limits: OverloadLimits;
  readonly clock: Clock;
  /** The part of its memory that the process uses now, from 0 to 1. */
  readonly readMemory: () => number;
  /** Frees unused memory. May take as long as a full garbage collection. */
  readonly collectGarbage: () => void;
  readonly logger: Logger;
}

/** The interval between two samples, in milliseconds. */
const intervalMs = 250;
/**
 * The number of samples that have to agree, so that one long garbage collection or a suspended machine refuses no
 * requests.
 */
const agreeing = 3;
/** The lag has to fall to this part of its limit before requests are taken again. */
const calmLag = 0.5;
/** Garbage collections stop the process. While the memory is full they may take this part of its time. */
const collectingPart = 0.02;
/** The shortest and longest interval between two collections while the memory is full, in milliseconds. */
const [soonestMs, latestMs] = [1000, 10_000];
/** The part of the memory that has to become free below the limit before requests are taken again. */
const calmMemory = 0.05;

/**
 * Watches how late the event loop is and how full the memory is. A process is overloaded once three samples in a row
 * are beyond a limit, and no longer once three in a row are well below it.
 */
export class OverloadMonitor implements Overload {
  shortage: Shortage | undefined;
  /** How late the event loop was when last measured, in milliseconds. */
  lagMs = 0;
  /** The part of the memory that was in use when last measured. */
  memory = 0;
  readonly #parts: Dependencies;
  readonly #beyond = { event_loop: 0, memory: 0 };
  #calm = 0;
  /** When garbage may be collected next, by the monotonic clock. */
  #collectFrom = Number.NEGATIVE_INFINITY;
  #cancel: () => void;

  /** Measures until it is stopped. */
  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#cancel = this.#measureLater();
  }

  /** Ends the measuring. */
  stop(): void {
    this.#cancel();
  }

  #measureLater(): () => void {
    const { clock } = this.#parts;
    const due = clock.monotonic() + intervalMs;
    return clock.after(intervalMs, () => {
      this.lagMs = Math.max(0, clock.monotonic() - due);
      this.memory = this.#parts.readMemory();
      this.#collect();
      this.#judge();
      this.#cancel = this.#measureLater();
    });
  }

  /**
   * Collects garbage when memory is short, or keeps an overload from its end. Garbage counts as used until it is
   * collected, and a process that refuses work makes too little of it for V8 to collect: it would refuse for ever.
   */
  #collect(): void {
    const { limits, clock, collectGarbage, readMemory } = this.#parts;
    const isFull = this.memory > limits.maxMemory && this.#beyond.memory + 1 >= agreeing;
    const isWaitedFor = this.shortage === "memory" || (this.shortage === "event_loop" && this.#isPunctual);
    const now = clock.monotonic();
    if ((isFull || (isWaitedFor && !this.#isRoomy)) && now >= this.#collectFrom) {
      collectGarbage();
      this.memory = readMemory();
      const after = clock.monotonic();
      this.#collectFrom = after + Math.min(Math.max((after - now) / collectingPart, soonestMs), latestMs);
    }
  }

  /** Whether the event loop is well below its limit. */
  get #isPunctual(): boolean {
    return this.lagMs <= this.#parts.limits.maxLagMs * calmLag;
  }

  /** Whether the memory is well below its limit. */
  get #isRoomy(): boolean {
    return this.memory <= this.#parts.limits.maxMemory - calmMemory;
  }

  #judge(): void {
    const { maxLagMs, maxMemory } = this.#parts.limits;
    this.#beyond.event_loop = this.lagMs > maxLagMs ? this.#beyond.event_loop + 1 : 0;
    this.#beyond.memory = this.memory > maxMemory ? this.#beyond.memory + 1 : 0;
    this.#calm = this.#isPunctual && this.#isRoomy ? this.#calm + 1 : 0;
    if (this.#beyond.memory >= agreeing) {
      this.#become("memory");
    } else if (this.#beyond.event_loop >= agreeing) {
      this.#become("event_loop");
    } else if (this.#calm >= agreeing) {
      this.#become(undefined);
    }
  }

  #become(shortage: Shortage | undefined): void {
    if (shortage === this.shortage) {
      return;
    }
    this.shortage = shortage;
    const { logger } = this.#parts;
    const measured = { lag_ms: Math.round(this.lagMs), memory: Math.round(this.memory * 100) / 100 };
    if (shortage === undefined) {
      logger.info(measured, "no longer overloaded: new requests are taken again");
    } else {
      logger.warn({ ...measured, shortage }, "overloaded: new requests are refused");
    }
  }
}
