import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Clock } from "../../../lib/time/clock.ts";

/** Failures in a row that open a breaker. */
const threshold = 3;

/**
 * Keeps requests from a server that fails them. Opens after failures in a row, lets a single request
 * through to try when its time is over, and closes when that one succeeds.
 */
export class Breaker {
  state: BreakerState = BreakerState.CLOSED;
  readonly #clock: Clock;
  readonly #openMs: number;
  readonly #onHalfOpen: () => void;
  #failures = 0;
  #trying = false;
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
    if (this.state === BreakerState.HALF_OPEN) this.#trying = true;
  }

  /** A request ended without telling anything about the server. */
  leave(): void {
    this.#trying = false;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#trying = false;
    this.state = BreakerState.CLOSED;
    this.#cancelTimer();
  }

  failed(): void {
    this.#failures++;
    const tried = this.#trying;
    this.#trying = false;
    if (this.state === BreakerState.OPEN || (!tried && this.#failures < threshold)) return;
    this.state = BreakerState.OPEN;
    this.#cancelTimer = this.#clock.after(this.#openMs, () => {
      this.state = BreakerState.HALF_OPEN;
      this.#onHalfOpen();
    });
  }

  /** Stops its timer. */
  close(): void {
    this.#cancelTimer();
  }
}
