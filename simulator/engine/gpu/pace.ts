import type { Clock } from "#lib/time/clock.ts";

/** Steps without delay that run before other work of the event loop gets its turn. */
const burst = 32;

/** Work in steps. */
export interface Steps {
  /** Assigns the work of the next step. Returns its duration in milliseconds. Undefined: there is no work. */
  schedule(): number | undefined;
  /** The step's work is done. */
  complete(): void;
  /** All due steps are done: their results may be reported. */
  report(): void;
}

/** Completes steps when they are due. */
export class Pace {
  readonly #speed: number;
  readonly #clock: Clock;
  readonly #steps: Steps;
  /** When the current step is done. Only meaningful while `#cancel` is set. */
  #due = 0;
  #cancel: (() => void) | undefined;

  /** `speed` divides the steps' durations. 0: no delay. */
  constructor(speed: number, clock: Clock, steps: Steps) {
    this.#speed = speed;
    this.#clock = clock;
    this.#steps = steps;
  }

  /** There may be work: begins a step unless one is running. */
  start(): void {
    if (this.#cancel !== undefined) {
      return;
    }
    const duration = this.#steps.schedule();
    if (duration === undefined) {
      return;
    }
    this.#due = this.#clock.monotonic() + this.#scale(duration);
    this.#arm();
  }

  /** Stops for good. */
  close(): void {
    this.#cancel?.();
    this.#cancel = () => {};
  }

  #arm(): void {
    if (this.#speed === 0) {
      const immediate = setImmediate(() => this.#advance());
      this.#cancel = () => clearImmediate(immediate);
    } else {
      const wait = Math.max(0, this.#due - this.#clock.monotonic());
      this.#cancel = this.#clock.after(wait, () => this.#advance());
    }
  }

  /** Completes every due step, so that a late timer does not slow the pace. */
  #advance(): void {
    const now = this.#clock.monotonic();
    this.#cancel = undefined;
    for (let count = 1; ; count++) {
      this.#steps.complete();
      const duration = this.#steps.schedule();
      if (duration === undefined) {
        break;
      }
      this.#due += this.#scale(duration);
      if (this.#speed === 0 ? count < burst : this.#due <= now) {
        continue;
      }
      this.#arm();
      break;
    }
    this.#steps.report();
  }

  #scale(duration: number): number {
    return this.#speed === 0 ? 0 : duration / this.#speed;
  }
}
