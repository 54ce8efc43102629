import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Clock } from "#lib/time/clock.ts";

/** Consecutive failures that open a breaker. */
const threshold = 3;

/**
 * Keeps requests away from a server that fails them.
 *
 * CLOSED ── three failures in a row, something impossible, or another core's word ──▶ OPEN
 * OPEN ── its open time is over ──▶ HALF_OPEN, which lets one trial request through at a time
 * HALF_OPEN ── the trial has its first output ──▶ CLOSED; ── it fails, or reports something impossible ──▶ OPEN
 *
 * A server that reported something impossible is distrusted: only a trial that was believable to its end closes then.
 * A trial that ends and says nothing about the server makes room for the next one.
 */
export class Breaker {
  state: BreakerState = BreakerState.CLOSED;
  readonly #clock: Clock;
  readonly #openMs: number;
  readonly #onHalfOpen: () => void;
  /** Called when failures of this core's own requests have opened the breaker. */
  onOpen: () => void = () => {};
  #failures = 0;
  #trying = false;
  /** Trials so far. The last one is the one that runs, if any does. */
  #trials = 0;
  /** True when the breaker opened because the server is not believable: a first output does not close it then. */
  #distrusted = false;
  #cancelTimer: () => void = () => {};

  /** `onHalfOpen` is called when a trial request may pass. */
  constructor(clock: Clock, openMs: number, onHalfOpen: () => void) {
    this.#clock = clock;
    this.#openMs = openMs;
    this.#onHalfOpen = onHalfOpen;
  }

  /** Whether a request may pass now. */
  get allows(): boolean {
    return this.state === BreakerState.CLOSED || (this.state === BreakerState.HALF_OPEN && !this.#trying);
  }

  /** A request goes to the server. Returns the number of the trial that it is. 0: it is none. */
  enter(): number {
    if (this.state !== BreakerState.HALF_OPEN) {
      return 0;
    }
    this.#trying = true;
    this.#trials++;
    return this.#trials;
  }

  /** A request ended and says nothing about the server. `trial`: as `enter` returned it. An earlier one's end is late. */
  leave(trial: number): void {
    if (trial === this.#trials) {
      this.#trying = false;
    }
  }

  /** The server has begun to answer a request. */
  succeeded(): void {
    if (!this.#distrusted) {
      this.#close();
    }
  }

  /** A request ended, and everything that the server reported about it is possible. */
  cleared(): void {
    if (!this.#distrusted || this.state !== BreakerState.HALF_OPEN) {
      return;
    }
    this.#distrusted = false;
    this.#close();
  }

  /**
   * The server reported something impossible: it gets no requests until single trials show that it is believable again.
   */
  distrust(): void {
    this.#distrusted = true;
    this.#trying = false;
    this.#open();
    this.onOpen();
  }

  failed(): void {
    this.#failures++;
    const tried = this.#trying;
    this.#trying = false;
    if (this.state === BreakerState.OPEN || (!tried && this.#failures < threshold)) {
      return;
    }
    this.#open();
    this.onOpen();
  }

  /** Another core has opened its breaker for this server: this one opens for a while, too. */
  failedElsewhere(): void {
    if (this.state === BreakerState.CLOSED) {
      this.#open();
    }
  }

  /** Cancels the timer. */
  close(): void {
    this.#cancelTimer();
  }

  #open(): void {
    this.#cancelTimer();
    this.state = BreakerState.OPEN;
    this.#cancelTimer = this.#clock.after(this.#openMs, () => {
      this.state = BreakerState.HALF_OPEN;
      this.#onHalfOpen();
    });
  }

  #close(): void {
    this.#failures = 0;
    this.#trying = false;
    this.state = BreakerState.CLOSED;
    this.#cancelTimer();
  }
}
