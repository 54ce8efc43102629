import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Clock } from "../../../lib/time/clock.ts";

/** Failures in a row that open a breaker. */
const threshold = 3;

/**
 * Keeps requests from a server that fails them. Opens after failures in a row, lets a single request
 * through to try when its time is over, and closes when that one succeeds. Opens at once when the server says
 * what cannot be true, and then closes when a request has been believable to its end.
 */
export class Breaker {
  state: BreakerState = BreakerState.CLOSED;
  readonly #clock: Clock;
  readonly #openMs: number;
  readonly #onHalfOpen: () => void;
  /** Is told when failures have opened it, of requests of this core. */
  onOpen: () => void = () => {};
  #failures = 0;
  #trying = false;
  /** Opened because the server cannot be believed: a first output is not enough to close it. */
  #distrusted = false;
  #cancelTimer: () => void = () => {};

  /** `onHalfOpen` is told when a request may try again. */
  constructor(clock: Clock, openMs: number, onHalfOpen: () => void) {
    this.#clock = clock;
    this.#openMs = openMs;
    this.#onHalfOpen = onHalfOpen;
  }

  /** Whether a request may pass now. */
  get allows(): boolean {
    return this.state === BreakerState.CLOSED || (this.state === BreakerState.HALF_OPEN && !this.#trying);
  }

  /** A request passes. */
  enter(): void {
    if (this.state === BreakerState.HALF_OPEN) {
      this.#trying = true;
    }
  }

  /** A request ended without telling anything about the server. */
  leave(): void {
    this.#trying = false;
  }

  /** A request has begun to be answered. */
  succeeded(): void {
    if (!this.#distrusted) {
      this.#close();
    }
  }

  /** A request ended, and all that the server said of it can be true. */
  cleared(): void {
    if (!this.#distrusted || this.state !== BreakerState.HALF_OPEN) {
      return;
    }
    this.#distrusted = false;
    this.#close();
  }

  /** The server said what cannot be true: it gets no more requests until one at a time shows that it can be believed. */
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

  /** Another core has opened its own: nothing passes for a while here, either. */
  failedElsewhere(): void {
    if (this.state === BreakerState.CLOSED) {
      this.#open();
    }
  }

  /** Stops its timer. */
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
