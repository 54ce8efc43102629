import type { Clock } from "../../../../lib/time/clock.ts";

/** Steps without delays that come before others get their turn. */
const burst = 32;

/** Work that goes on in steps. */
export interface Steps {
  /** Gives out the work of the next step. Returns how many milliseconds it takes; undefined: there is nothing to do. */
  schedule(): number | undefined;
  /** The step's work is done. */
  complete(): void;
  /** All steps that were due are done: those who wait for their work may be told. */
  report(): void;
}

/** Completes steps when they are due. */
export class Pace {
  readonly #speed: number;
  readonly #clock: Clock;
  readonly #steps: Steps;
  /** When the step under way is done. Only meaningful while `#cancel` is set. */
  #due = 0;
  #cancel: (() => void) | undefined;

  /** `speed` is how many times faster the steps go than they say; 0 means without any delay. */
  constructor(speed: number, clock: Clock, steps: Steps) {
    this.#speed = speed;
    this.#clock = clock;
    this.#steps = steps;
  }

  /** There may be work: begins a step unless one is under way. */
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

  /** Stops the steps for good. */
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

  /** Completes every step that is due: a late timer does not slow the pace. */
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
