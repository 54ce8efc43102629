import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Clock } from "#lib/time/clock.ts";
import { EngineFault } from "../engines/interface.ts";

/** How long an engine may take, in milliseconds. */
export interface TimeLimits {
  /** From the start to the first output. */
  readonly firstOutput: number;
  /** Between two outputs. */
  readonly idle: number;
  /** From the start to the end. */
  readonly total: number;
}

/**
 * Bounds the time of one engine call: its signal aborts when a limit passes or the caller's signal aborts. Silence is
 * only the time spent waiting for the engine, not for a slow reader. Costs one timer for each silence, not for each
 * output.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #limits: TimeLimits;
  readonly #caller: AbortSignal;
  readonly #controller = new AbortController();
  readonly #startedAt: number;
  readonly #onAbort = () => this.#controller.abort(this.#caller.reason);
  #began = false;
  #waiting = true;
  #waitingSince: number;
  #cancelTimer: () => void;

  constructor(clock: Clock, limits: TimeLimits, caller: AbortSignal) {
    this.#clock = clock;
    this.#limits = limits;
    this.#caller = caller;
    this.#startedAt = this.#waitingSince = clock.monotonic();
    this.#cancelTimer = clock.after(Math.min(limits.firstOutput, limits.total), () => this.#check());
    if (caller.aborted) {
      this.#onAbort();
    } else {
      caller.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The engine has produced an output. */
  arrived(): void {
    this.#began = true;
    this.#waiting = false;
  }

  /** The reader waits for the next output. */
  await(): void {
    this.#waiting = true;
    this.#waitingSince = this.#clock.monotonic();
  }

  /** The call has ended. */
  close(): void {
    this.#cancelTimer();
    this.#caller.removeEventListener("abort", this.#onAbort);
  }

  #check(): void {
    const now = this.#clock.monotonic();
    const limit = this.#began ? this.#limits.idle : this.#limits.firstOutput;
    const untilSilent = this.#waiting ? this.#waitingSince + limit - now : this.#limits.idle;
    const untilTotal = this.#startedAt + this.#limits.total - now;
    const next = Math.min(untilSilent, untilTotal);
    if (next > 0) {
      this.#cancelTimer = this.#clock.after(next, () => this.#check());
    } else {
      this.#controller.abort(this.#timeout(untilTotal <= 0));
    }
  }

  #timeout(total: boolean): Error {
    const what = total
      ? "The answer took too long."
      : this.#began
        ? "The model stopped answering."
        : "The model did not begin to answer in time.";
    return failure(Reason.TIMEOUT, what, {}, new EngineFault(what, false));
  }
}
